public import CongestionControl
public import MediaCore

/// Collects figures from a recording, record by record: totals, rates and delays over time, and the network's path.
public struct FlightAnalysis: Sendable {
    public struct Interval: Hashable, Sendable {
        /// The target at the interval's end.
        public internal(set) var target = BitRate.zero
        /// The target of the replayed controller at the interval's end.
        public internal(set) var replayedTarget: BitRate?
        public internal(set) var sent = DataSize.zero
        /// The data that left the network's queue in the interval.
        public internal(set) var received = DataSize.zero
        public internal(set) var missingPackets = 0
        public internal(set) var receivedPackets = 0
        var delaySum = Duration.zero

        /// The mean queueing delay of the packets that left the queue in the interval; nil if there are none.
        public var meanQueueingDelay: Duration? { receivedPackets > 0 ? delaySum / receivedPackets : nil }
    }

    public let header: FlightHeader
    public let interval: Duration
    public private(set) var duration = Duration.zero
    public private(set) var packetCount = 0
    public private(set) var sentSize = DataSize.zero
    public private(set) var probePacketCount = 0
    public private(set) var feedbackCount = 0
    public private(set) var receiverReportCount = 0
    public private(set) var receivedPacketCount = 0
    public private(set) var receivedSize = DataSize.zero
    /// The packets that feedback reported as missing and that did not arrive later.
    public private(set) var missingPacketCount = 0
    public private(set) var target = TargetFigures()
    /// The targets of the replayed controller.
    public private(set) var replayedTarget = TargetFigures()
    private var intervals: [Interval] = []
    private var arrivals: [FlightPath.Arrival] = []

    /// - Parameter interval: The length of each row of `course`.
    public init(header: FlightHeader, interval: Duration = .milliseconds(200)) {
        self.header = header
        self.interval = max(interval, .milliseconds(10))
    }

    /// Adds a record and, if it is a decision, the decision of a replay at the same place.
    public mutating func add(_ record: FlightRecord, replayed: ControlDecision? = nil) {
        let time = record.time - header.start
        duration = max(duration, time)
        let index = index(of: time)
        switch record.event {
        case .packetSent(let packet):
            packetCount += 1
            sentSize += packet.size
            intervals[index].sent += packet.size
            if packet.probeClusterID != nil { probePacketCount += 1 }
        case .feedbackReceived(let report):
            feedbackCount += 1
            for result in report.results { add(result, interval: index) }
        case .receiverReportReceived: receiverReportCount += 1
        case .decided(let decision):
            intervals[index].target = decision.targetBitRate
            target.add(decision.targetBitRate, at: time)
            if let replayed {
                intervals[index].replayedTarget = replayed.targetBitRate
                replayedTarget.add(replayed.targetBitRate, at: time)
            }
        case .remoteEstimateReceived, .demandChanged, .limitsChanged, .senderQueueChanged, .frameDelayChanged: break
        }
    }

    private mutating func add(_ result: PacketResult, interval index: Int) {
        guard let receiveTime = result.receiveTime else {
            missingPacketCount += 1
            intervals[index].missingPackets += 1
            return
        }
        if result.wasReportedMissing { missingPacketCount = max(0, missingPacketCount - 1) }
        receivedPacketCount += 1
        receivedSize += result.sent.size
        arrivals.append(
            FlightPath.Arrival(sendTime: result.sent.sendTime, receiveTime: receiveTime, size: result.sent.size))
    }

    /// Returns the index of a time's interval. Missing intervals are added; they start with the previous targets.
    private mutating func index(of time: Duration) -> Int {
        let index = Int(max(0, time.nanoseconds) / interval.nanoseconds)
        while intervals.count <= index {
            var next = Interval()
            next.target = intervals.last?.target ?? .zero
            next.replayedTarget = intervals.last?.replayedTarget
            intervals.append(next)
        }
        return index
    }

    /// The network's path, as far as feedback reveals it.
    public var path: FlightPath {
        FlightPath(arrivals: arrivals, start: header.start, packetOverhead: header.packetOverhead)
    }

    /// Returns rates and delays for each interval.
    public func course(path: FlightPath) -> [Interval] {
        var course = intervals
        for packet in path.packets {
            let index = Int(max(0, packet.left.nanoseconds) / interval.nanoseconds)
            guard index < course.count else { continue }
            course[index].received += packet.size - header.packetOverhead
            course[index].receivedPackets += 1
            course[index].delaySum += packet.queueingDelay
        }
        return course
    }
}
