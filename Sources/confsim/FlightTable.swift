import FlightRecording
import Foundation
import MediaCore

/// The course of a flight recording as CSV.
struct FlightTable {
    var analysis: FlightAnalysis
    var path: FlightPath
    var hasOther: Bool

    var text: String {
        var columns = ["time_s", "target_bps", "sent_bps", "received_bps", "queueing_delay_ms", "missing_packets"]
        if hasOther { columns.append("other_target_bps") }
        var lines = [columns.joined(separator: ",")]
        for (index, row) in analysis.course(path: path).enumerated() {
            func rate(_ size: DataSize) -> String { "\(BitRate(size, over: analysis.interval).bitsPerSecond)" }
            var values = [
                String(format: "%.3f", Double(index) * analysis.interval.seconds), "\(row.target.bitsPerSecond)",
                rate(row.sent), rate(row.received),
                row.meanQueueingDelay.map { String(format: "%.2f", $0.milliseconds) } ?? "", "\(row.missingPackets)",
            ]
            if hasOther { values.append(row.replayedTarget.map { "\($0.bitsPerSecond)" } ?? "") }
            lines.append(values.joined(separator: ","))
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
