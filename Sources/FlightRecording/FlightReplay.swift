public import CongestionControl
public import MediaCore

/// Runs a controller on a recording's inputs and compares its decisions with the recorded ones.
public struct FlightReplay: Sendable {
    /// The first decision that differs.
    public struct Difference: Hashable, Sendable {
        public var time: MonotonicInstant
        /// The number of decisions before this one.
        public var index: Int
        public var recorded: ControlDecision
        public var replayed: ControlDecision
    }

    /// The controller, whose state can be inspected.
    public private(set) var controller: any CongestionController
    public private(set) var decisionCount = 0
    public private(set) var firstDifference: Difference?
    /// The number of decisions that differ.
    public private(set) var differenceCount = 0

    /// - Parameter controller: A controller that was created with the values of the recording's header.
    public init(controller: any CongestionController) {
        self.controller = controller
    }

    /// Feeds the record to the controller. Returns the controller's decision if the record is a decision.
    public mutating func apply(_ record: FlightRecord) -> ControlDecision? {
        let now = record.time
        switch record.event {
        case .packetSent(let packet): controller.packetSent(packet, now: now)
        case .feedbackReceived(let report): controller.feedbackReceived(report, now: now)
        case .remoteEstimateReceived(let estimate): controller.remoteEstimateReceived(estimate, now: now)
        case .receiverReportReceived(let fractionLost, let roundTripTime):
            controller.receiverReportReceived(fractionLost: fractionLost, roundTripTime: roundTripTime, now: now)
        case .demandChanged(let demand): controller.demandChanged(demand, now: now)
        case .limitsChanged(let limits): controller.limitsChanged(limits, now: now)
        case .senderQueueChanged(let size): controller.senderQueueChanged(size, now: now)
        case .frameDelayChanged(let delay): controller.frameDelayChanged(delay, now: now)
        case .decided(let recorded):
            let replayed = controller.advance(now: now)
            if replayed != recorded {
                differenceCount += 1
                if firstDifference == nil {
                    firstDifference = Difference(
                        time: now, index: decisionCount, recorded: recorded, replayed: replayed)
                }
            }
            decisionCount += 1
            return replayed
        }
        return nil
    }
}

extension FlightReplay.Difference {
    /// A text that names the parts of the decision that differ.
    public var description: String {
        var parts: [String] = []
        func compare<Value: Equatable>(_ name: String, _ path: KeyPath<ControlDecision, Value>) {
            let (old, new) = (recorded[keyPath: path], replayed[keyPath: path])
            if old != new { parts.append("\(name) \(Self.text(old)) became \(Self.text(new))") }
        }
        compare("target", \.targetBitRate.bitsPerSecond)
        compare("sustained rate", \.sustainedBitRate?.bitsPerSecond)
        compare("pacing rate", \.pacingRate.bitsPerSecond)
        compare("burst", \.pacingBurst)
        compare("padding rate", \.paddingRate.bitsPerSecond)
        compare("window", \.congestionWindow?.bytes)
        compare("probes", \.newProbeClusters)
        compare("frame timeout", \.frameTimeout)
        compare("pause of video", \.videoPause?.rawValue)
        compare("next wake-up", \.nextWakeUp.nanoseconds)
        return parts.joined(separator: ", ")
    }

    private static func text<Value>(_ value: Value) -> String {
        if let clusters = value as? [ProbeCluster] {
            return "[" + clusters.map { "\($0.id): \($0.rate)" }.joined(separator: ", ") + "]"
        }
        let text = "\(value)"
        return text.hasPrefix("Optional(") ? String(text.dropFirst(9).dropLast()) : text
    }
}
