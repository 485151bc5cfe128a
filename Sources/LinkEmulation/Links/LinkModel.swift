public import MediaCore
internal import NIOCore
public import RTP

/// A model of a link, sans I/O: packets go in, and come out when the link would deliver them.
///
///     link.send(packet, size: size, now: now)
///     while let packet = link.deliver(now: now) { … }        // and again at link.nextDelivery
public struct LinkModel<Packet> {
    /// The fate of a packet at the link's entrance.
    public enum Admission: Hashable, Sendable {
        case queued
        /// The packet was lost at random.
        case lost
        /// The queue was full, or the policer had no tokens left.
        case dropped
    }

    /// A delivered packet with its times.
    public struct Delivery {
        public var packet: Packet
        public var size: DataSize
        /// The packet's ECN mark, from its sender or from the queue.
        public var ecn: ECNCodepoint
        /// The time at which the packet was sent into the link.
        public var sent: MonotonicInstant
        /// The time at which the packet left the queue.
        public var exiting: MonotonicInstant
        /// The time at which the packet arrived, which may be earlier than the call that fetched it.
        public var arrived: MonotonicInstant

        /// The packet's time in the queue, including its own transmission.
        public var queueingDelay: Duration { exiting - sent }
    }

    public struct Statistics: Hashable, Sendable {
        public var sentPackets = 0
        public var deliveredPackets = 0
        /// Packets that were lost at random.
        public var lostPackets = 0
        /// Packets that the queue or the policer dropped.
        public var droppedPackets = 0
        /// Packets that the queue marked as having experienced congestion.
        public var markedPackets = 0
        public var deliveredSize = DataSize.zero

        public init() {}
    }

    public let profile: LinkProfile

    private let start: MonotonicInstant
    private var counters = Statistics()
    private var generator: SeededGenerator
    private var lossProcess = LossProcess()
    private var policer: TokenBucket?
    private var server: LinkServer
    /// The number of changes so far; the current delay, jitter and loss follow from them.
    private var changeCount = 0
    private var delay: Duration
    private var jitter: Duration
    private var loss: LossModel

    // Without active queue management, a packet's departure is known on its arrival, so no work is needed in between.
    /// The packets that have not left the queue yet, with their departures and sizes.
    private var queue = CircularBuffer<(departure: MonotonicInstant, size: DataSize)>()
    private var queuedSize = DataSize.zero

    // With active queue management, packets are chosen one by one when the link is free.
    private var managed: ManagedQueue<Packet>?
    private var inService: (packet: QueuedPacket<Packet>, departure: MonotonicInstant)?
    /// The time at which the next packet is chosen; nil while one is under way or none waits.
    private var nextService: MonotonicInstant?

    /// The packets that were not fetched yet, by arrival.
    private var underWay = CircularBuffer<Delivery>()
    private var lastArrival = MonotonicInstant(nanoseconds: .min)

    /// Creates a link whose first step, or first line of a trace, begins at `start`. The same seed and the same packets
    /// give the same losses and delays.
    public init(profile: LinkProfile, seed: UInt64, start: MonotonicInstant) {
        self.profile = profile
        self.start = start
        generator = SeededGenerator(seed: seed)
        server = LinkServer(rate: profile.rate, start: start)
        policer = profile.policer.map {
            TokenBucket(rate: Double($0.rate.bitsPerSecond) / 8, capacity: Double($0.burst.bytes), now: start)
        }
        managed = ManagedQueue(profile.discipline, start: start)
        delay = profile.delay
        jitter = profile.jitter
        loss = profile.loss
    }

    public var statistics: Statistics {
        var statistics = counters
        statistics.droppedPackets += managed?.counters.dropped ?? 0
        statistics.markedPackets += managed?.counters.marked ?? 0
        return statistics
    }

    /// Sends a packet into the link.
    ///
    /// - Parameters:
    ///   - ecn: The sender's ECN mark.
    ///   - flow: Identifies the flow for disciplines with a queue for each flow.
    @discardableResult
    public mutating func send(
        _ packet: Packet, size: DataSize, ecn: ECNCodepoint = .notCapable, flow: Int = 0, now: MonotonicInstant
    ) -> Admission {
        counters.sentPackets += 1
        let size = max(size, .zero)
        applyChanges(at: now)
        if lossProcess.loses(loss, using: &generator) {
            counters.lostPackets += 1
            return .lost
        }
        if policer?.take(Double(size.bytes), now: now) == false {
            counters.droppedPackets += 1
            return .dropped
        }
        if managed != nil {
            let waiting = QueuedPacket(packet: packet, size: size, ecn: ecn, flow: flow, enqueued: now)
            return enqueue(waiting, now: now)
        }
        removeExiting(now: now)
        guard hasRoom(for: size, queued: queuedSize, count: queue.count, now: now) else {
            counters.droppedPackets += 1
            return .dropped
        }
        let departure = server.serve(size, now: now)
        queue.append((departure, size))
        queuedSize += size
        depart(packet, size: size, ecn: ecn, sent: now, departure: departure)
        return .queued
    }

    /// Returns the next packet that has arrived by now; nil if there is none.
    public mutating func deliver(now: MonotonicInstant) -> Packet? {
        deliverTimed(now: now)?.packet
    }

    /// Returns the next packet that has arrived by now, with its times; nil if there is none.
    public mutating func deliverTimed(now: MonotonicInstant) -> Delivery? {
        serve(now: now)
        guard let first = underWay.first, first.arrived <= now, first.arrived < .distantFuture else { return nil }
        counters.deliveredPackets += 1
        counters.deliveredSize += first.size
        return underWay.removeFirst()
    }

    /// The time at which to call `deliver` next; `distantFuture` if nothing is under way. With active queue management
    /// there may be no packet at this time, because the next packet to leave is chosen only then.
    public var nextDelivery: MonotonicInstant {
        let arrival = underWay.first?.arrived ?? .distantFuture
        guard managed != nil else { return arrival }
        return min(arrival, inService?.departure ?? nextService ?? .distantFuture)
    }

    /// Returns the time that a packet sent now would wait before it begins to leave; an estimate with active queue
    /// management.
    public func queueDelay(now: MonotonicInstant) -> Duration {
        guard let managed else {
            guard let last = queue.last else { return .zero }
            return max(last.departure - now, .zero)
        }
        let rest = inService.map { max($0.departure - now, .zero) } ?? .zero
        return rest + (profile.rate.rate(at: now - start).map { $0.duration(for: managed.size) } ?? .zero)
    }

    private mutating func removeExiting(now: MonotonicInstant) {
        while let first = queue.first, first.departure <= now {
            queuedSize -= first.size
            queue.removeFirst()
        }
    }

    private func hasRoom(for size: DataSize, queued: DataSize, count: Int, now: MonotonicInstant) -> Bool {
        // An empty queue takes a packet of any size.
        guard count > 0 else { return true }
        if let maximum = profile.maximumPackets, count >= maximum { return false }
        switch profile.queue {
        case .size(let limit): return queued + size <= limit
        case .packets(let limit): return count < limit
        case .duration(let limit):
            guard let rate = profile.rate.rate(at: now - start) else { return true }
            return queued + size <= rate.dataSize(over: limit)
        }
    }

    private mutating func applyChanges(at time: MonotonicInstant) {
        while changeCount < profile.changes.count, start + profile.changes[changeCount].time <= time {
            let change = profile.changes[changeCount]
            delay = change.delay ?? delay
            jitter = change.jitter ?? jitter
            loss = change.loss ?? loss
            changeCount += 1
        }
    }

    /// Moves a packet, which leaves the queue at `departure`, onto the link.
    private mutating func depart(
        _ packet: Packet, size: DataSize, ecn: ECNCodepoint, sent: MonotonicInstant, departure: MonotonicInstant
    ) {
        var arrival = departure + delay
        if jitter > .zero {
            arrival += .nanoseconds(Int64.random(in: 0...jitter.nanoseconds, using: &generator))
        }
        if !profile.reorders { arrival = max(arrival, lastArrival) }
        lastArrival = max(lastArrival, arrival)
        insert(Delivery(packet: packet, size: size, ecn: ecn, sent: sent, exiting: departure, arrived: arrival))
    }

    private mutating func enqueue(_ packet: QueuedPacket<Packet>, now: MonotonicInstant) -> Admission {
        serve(now: now)
        guard let waiting = managed.map({ (size: $0.size, count: $0.count, makesRoom: $0.makesRoom) }) else {
            return .dropped
        }
        let isFull = !hasRoom(for: packet.size, queued: waiting.size, count: waiting.count, now: now)
        guard !isFull || waiting.makesRoom else {
            counters.droppedPackets += 1
            return .dropped
        }
        managed?.enqueue(packet, now: now)
        if isFull { managed?.dropFromLongest() }
        if inService == nil, nextService == nil { nextService = server.nextStart(now: now) }
        serve(now: now)
        return .queued
    }

    /// Serves the managed queue up to now.
    private mutating func serve(now: MonotonicInstant) {
        guard managed != nil else { return }
        while true {
            if let (packet, departure) = inService {
                guard departure <= now else { return }
                applyChanges(at: departure)
                depart(
                    packet.packet, size: packet.size, ecn: packet.ecn, sent: packet.enqueued, departure: departure)
                inService = nil
                nextService = managed?.isEmpty == false ? server.nextStart(now: departure) : nil
            }
            guard let time = nextService, time <= now else { return }
            nextService = nil
            guard let packet = managed?.dequeue(now: time) else { return }
            inService = (packet, server.serve(packet.size, now: time))
        }
    }

    /// Inserts a packet by its arrival: nearly always at the end.
    private mutating func insert(_ delivery: Delivery) {
        underWay.append(delivery)
        var place = underWay.count - 1
        while place > 0, underWay[offset: place - 1].arrived > underWay[offset: place].arrived {
            let earlier = underWay[offset: place - 1]
            underWay[offset: place - 1] = underWay[offset: place]
            underWay[offset: place] = earlier
            place -= 1
        }
    }
}

extension LinkModel: Sendable where Packet: Sendable {}
extension LinkModel.Delivery: Sendable where Packet: Sendable {}
