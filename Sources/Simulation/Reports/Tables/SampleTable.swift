internal import CongestionControl
internal import MediaCore
import VectorGraphics

/// The inputs and decisions of controllers, sample by sample, as comma-separated values.
public struct SampleTable: Sendable {
    private var text = CSVText.line([
        "scenario", "controller", "flow", "time_s", "target_mbps", "acknowledged_mbps", "capacity_mbps", "send_mbps",
        "recv_mbps", "goodput_mbps", "qdelay_ms", "sender_delay_ms", "fraction_lost", "rtt_ms", "state", "limit",
        "trend_ms", "threshold_ms",
    ])

    public init() {}

    public mutating func add(scenario: String, controller: String, flow: String, _ samples: [MediaFlowSample]) {
        for sample in samples {
            let snapshot = sample.controller
            text += CSVText.line([
                scenario, controller, flow, NumberText.short(sample.time.seconds, 3),
                Self.megabits(snapshot.targetBitRate), snapshot.acknowledgedBitRate.map(Self.megabits) ?? "",
                sample.capacity.map(Self.megabits) ?? "", Self.megabits(sample.sendRate),
                Self.megabits(sample.receiveRate), Self.megabits(sample.goodput),
                NumberText.short(sample.queueDelay.milliseconds, 3),
                NumberText.short(sample.pacerDelay.milliseconds, 3), NumberText.short(snapshot.fractionLost, 4),
                snapshot.roundTripTime.map { NumberText.short($0.milliseconds, 3) } ?? "",
                snapshot.networkState.rawValue, snapshot.limit.rawValue, NumberText.short(snapshot.delayTrend, 3),
                NumberText.short(snapshot.delayThreshold, 3),
            ])
        }
    }

    public var csv: String { text }

    private static func megabits(_ rate: BitRate) -> String {
        NumberText.short(rate.kilobitsPerSecond / 1000, 6)
    }
}
