import MediaCore
import NetworkSimulation
import RateControl

/// The samples of all runs as comma-separated values, rates in kbit/s and times in seconds or ms as the names say.
struct SampleTable {
    var runs: [SimulatedRun]

    var text: String {
        var text = """
            link,time_s,target_kbps,acknowledged_kbps,capacity_kbps,send_kbps,goodput_kbps,queue_delay_ms,\
            pacer_delay_ms,fraction_lost,rtt_ms,state,limit,trend_ms,threshold_ms

            """
        for run in runs {
            let name = run.name.contains(",") ? "\"\(run.name)\"" : run.name
            for sample in run.report.samples { text += line(name, sample) }
        }
        return text
    }

    private func line(_ name: String, _ sample: MediaFlowSample) -> String {
        let controller = sample.controller
        let cells: [String] = [
            name, "\(sample.time.seconds)", "\(controller.targetBitRate.kilobitsPerSecond)",
            controller.acknowledgedBitRate.map { "\($0.kilobitsPerSecond)" } ?? "",
            sample.capacity.map { "\($0.kilobitsPerSecond)" } ?? "", "\(sample.sendRate.kilobitsPerSecond)",
            "\(sample.goodput.kilobitsPerSecond)", "\(sample.queueDelay.milliseconds)",
            "\(sample.pacerDelay.milliseconds)", "\(controller.fractionLost)",
            controller.roundTripTime.map { "\($0.milliseconds)" } ?? "", controller.networkState.rawValue,
            controller.limit.rawValue, "\(controller.delayTrend)", "\(controller.delayThreshold)",
        ]
        return cells.joined(separator: ",") + "\n"
    }
}
