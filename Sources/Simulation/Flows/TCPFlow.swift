public import MediaCore
import RTP

/// The data of a simulated TCP sender.
public struct TCPFlowParameters: Hashable, Sendable {
    /// Short transfers one after another. Sizes are uniform between the bounds; idle times between transfers are
    /// exponential.
    public struct Transfers: Hashable, Sendable {
        public var minimumSize: DataSize
        public var maximumSize: DataSize
        public var meanIdleTime: Duration
        /// True if the first transfer begins at once, without an idle time.
        public var beginsAtOnce: Bool

        public init(
            minimumSize: DataSize, maximumSize: DataSize, meanIdleTime: Duration, beginsAtOnce: Bool = false
        ) {
            self.beginsAtOnce = beginsAtOnce
            self.minimumSize = minimumSize
            self.maximumSize = max(minimumSize, maximumSize)
            self.meanIdleTime = meanIdleTime
        }
    }

    public var variant: TCPVariant
    public var start: Duration
    /// The time after which there is no new data; nil for none.
    public var stop: Duration?
    /// The transfers; nil for one transfer without end.
    public var transfers: Transfers?
    /// The size of a full segment on the wire.
    public var segmentSize: DataSize
    /// True if packets are ECN-capable (RFC 3168).
    public var usesECN: Bool

    public init(
        variant: TCPVariant = .cubic, start: Duration = .zero, stop: Duration? = nil, transfers: Transfers? = nil,
        segmentSize: DataSize = DataSize(bytes: 1500), usesECN: Bool = false
    ) {
        self.variant = variant
        self.start = start
        self.stop = stop
        self.transfers = transfers
        self.segmentSize = segmentSize
        self.usesECN = usesECN
    }
}

/// A TCP connection, or several one after another.
struct TCPFlow: SimulatedFlow {
    private enum Timer {
        static let begin = 0
        static let stop = 1
    }

    /// The size of an acknowledgement on the wire.
    private static let acknowledgementSize = DataSize(bytes: 60)
    /// The size of a segment's headers, in bytes.
    private static let headerSize = 52

    private let number: Int
    private let parameters: TCPFlowParameters
    private var generator: SeededGenerator
    private var sender: TCPSender?
    private var receiver = TCPReceiver()
    /// The number of the present connection. Packets of earlier connections are ignored.
    private var connection: Int64 = 0
    private var isStopped = false
    private var messages = MessageSlots<TCPAcknowledgement>()
    private(set) var recording: TrafficRecording

    init(number: Int, parameters: TCPFlowParameters, setting: MediaFlowRecording.Setting, seed: UInt64) {
        self.number = number
        self.parameters = parameters
        generator = SeededGenerator(seed: seed)
        recording = TrafficRecording(setting: setting)
    }

    mutating func begin(_ network: SimulatedNetwork) {
        var start = parameters.start
        if let transfers = parameters.transfers, !transfers.beginsAtOnce {
            start += generator.nextExponential(mean: transfers.meanIdleTime)
        }
        network.schedule(flow: number, tag: Timer.begin, at: .zero + start)
        if let stop = parameters.stop { network.schedule(flow: number, tag: Timer.stop, at: .zero + stop) }
    }

    mutating func timer(_ tag: Int, _ network: SimulatedNetwork) {
        if tag == Timer.stop {
            isStopped = true
            sender = nil
        }
        guard !isStopped else { return }
        var segments: Int64?
        if let transfers = parameters.transfers {
            let size = Int.random(
                in: transfers.minimumSize.bytes...transfers.maximumSize.bytes, using: &generator)
            let payload = max(parameters.segmentSize.bytes - Self.headerSize, 1)
            segments = Int64((size + payload - 1) / payload)
        }
        connection += 1
        sender = TCPSender(variant: parameters.variant, segments: segments)
        receiver = TCPReceiver()
        sendSegments(network)
    }

    mutating func wake(_ network: SimulatedNetwork) {
        if let deadline = receiver.deadline, deadline <= network.now {
            send(receiver.acknowledge(), network)
        }
        if let deadline = sender?.deadline, deadline <= network.now { sender?.timedOut(now: network.now) }
        sendSegments(network)
    }

    mutating func receive(_ packet: SimulatedPacket, _ network: SimulatedNetwork) {
        let now = network.now
        switch packet.direction {
        case .forward:
            guard packet.detail == connection else { return }
            let (inOrder, acknowledgement) = receiver.receive(
                packet.sequence, sentAt: packet.sendTime, isMarked: packet.ecn == .congestionExperienced, now: now)
            recording.received(
                packet, useful: DataSize(bytes: inOrder * parameters.segmentSize.bytes), now: now)
            if let acknowledgement { send(acknowledgement, network) }
            schedule(network)
        case .backward:
            guard packet.sequence == connection, let acknowledgement = messages.take(packet.detail) else { return }
            sender?.acknowledged(acknowledgement, now: now)
            if sender?.isDone == true, let transfers = parameters.transfers {
                sender = nil
                let idle = generator.nextExponential(mean: transfers.meanIdleTime)
                network.schedule(flow: number, tag: Timer.begin, at: now + idle)
            } else {
                network.wake(flow: number, at: now)
            }
        }
    }

    mutating func sample(_ network: SimulatedNetwork) {
        recording.sample(flow: number, isActive: sender != nil, target: nil, network)
    }

    private mutating func sendSegments(_ network: SimulatedNetwork) {
        let now = network.now
        while let segment = sender?.nextSegment(now: now) {
            let packet = SimulatedPacket(
                flow: number, direction: .forward, size: parameters.segmentSize,
                ecn: parameters.usesECN ? .capable0 : .notCapable, sendTime: now, sequence: segment,
                detail: connection)
            recording.sent(packet, now: now)
            network.send(packet)
        }
        schedule(network)
    }

    private mutating func send(_ acknowledgement: TCPAcknowledgement, _ network: SimulatedNetwork) {
        network.send(
            SimulatedPacket(
                flow: number, direction: .backward, size: Self.acknowledgementSize, sendTime: network.now,
                sequence: connection, detail: messages.put(acknowledgement)))
    }

    private func schedule(_ network: SimulatedNetwork) {
        network.wake(
            flow: number, at: min(sender?.deadline ?? .distantFuture, receiver.deadline ?? .distantFuture))
    }
}
