public import MediaCore
internal import NIOCore

/// A link, sans I/O: packets go in, and come out when the link would deliver them.
///
///     link.send(packet, size: size, now: now)
///     while let packet = link.deliver(now: now) { … }        // and again at link.nextDelivery
public struct LinkModel<Packet> {
    /// What became of a packet at the link's entrance.
    public enum Admission: Hashable, Sendable {
        case queued
        /// Lost at random.
        case lost
        /// The queue was full.
        case dropped
    }

    /// A packet that came out, with its times.
    public struct Delivery {
        public var packet: Packet
        public var size: DataSize
        /// When it was given to the link.
        public var sent: MonotonicInstant
        /// When it left the queue.
        public var departed: MonotonicInstant
        /// When it came out, which is no later than when it was fetched.
        public var arrived: MonotonicInstant

        /// How long it was in the queue, its own transmission included.
        public var queueingDelay: Duration { departed - sent }
    }

    public struct Statistics: Hashable, Sendable {
        public var sentPackets = 0
        public var deliveredPackets = 0
        public var lostPackets = 0
        public var droppedPackets = 0
        public var deliveredSize = DataSize.zero
    }

    public let profile: LinkProfile
    public private(set) var statistics = Statistics()

    private let start: MonotonicInstant
    private var generator: SeededGenerator
    private var server: LinkServer
    /// What has not left the queue yet: when it will and its size.
    private var queue = CircularBuffer<(departure: MonotonicInstant, size: DataSize)>()
    private var queuedSize = DataSize.zero
    /// What was not fetched yet, by arrival.
    private var underWay = CircularBuffer<Delivery>()
    private var lastArrival = MonotonicInstant(nanoseconds: .min)

    /// Creates a link that begins (the first step, the first line of a trace) at `start`. The same seed and the same
    /// packets give the same losses and delays.
    public init(profile: LinkProfile, seed: UInt64, start: MonotonicInstant) {
        self.profile = profile
        self.start = start
        generator = SeededGenerator(seed: seed)
        server = LinkServer(rate: profile.rate, start: start)
    }

    /// Gives a packet to the link.
    @discardableResult
    public mutating func send(_ packet: Packet, size: DataSize, now: MonotonicInstant) -> Admission {
        statistics.sentPackets += 1
        let size = max(size, .zero)
        if profile.loss > 0, Double.random(in: 0..<1, using: &generator) < profile.loss {
            statistics.lostPackets += 1
            return .lost
        }
        removeDeparted(now: now)
        guard hasRoom(for: size, now: now) else {
            statistics.droppedPackets += 1
            return .dropped
        }
        let departure = server.serve(size, now: now)
        queue.append((departure, size))
        queuedSize += size
        var arrival = departure + profile.delay
        if profile.jitter > .zero {
            arrival += .nanoseconds(Int64.random(in: 0...profile.jitter.nanoseconds, using: &generator))
        }
        if !profile.reorders { arrival = max(arrival, lastArrival) }
        lastArrival = max(lastArrival, arrival)
        insert(Delivery(packet: packet, size: size, sent: now, departed: departure, arrived: arrival))
        return .queued
    }

    /// The next packet that came out by now; nil when none did.
    public mutating func deliver(now: MonotonicInstant) -> Packet? {
        deliverTimed(now: now)?.packet
    }

    /// The next packet that came out by now, with its times; nil when none did.
    public mutating func deliverTimed(now: MonotonicInstant) -> Delivery? {
        guard let first = underWay.first, first.arrived <= now, first.arrived < .distantFuture else { return nil }
        statistics.deliveredPackets += 1
        statistics.deliveredSize += first.size
        return underWay.removeFirst()
    }

    /// When to call `deliver` next; `distantFuture` when nothing is under way.
    public var nextDelivery: MonotonicInstant { underWay.first?.arrived ?? .distantFuture }

    /// How long a packet sent now would wait before it begins to leave.
    public func queueDelay(now: MonotonicInstant) -> Duration {
        guard let last = queue.last else { return .zero }
        return max(last.departure - now, .zero)
    }

    private mutating func removeDeparted(now: MonotonicInstant) {
        while let first = queue.first, first.departure <= now {
            queuedSize -= first.size
            queue.removeFirst()
        }
    }

    private func hasRoom(for size: DataSize, now: MonotonicInstant) -> Bool {
        // An empty queue takes a packet of any size.
        guard !queue.isEmpty else { return true }
        switch profile.queue {
        case .size(let limit): return queuedSize + size <= limit
        case .packets(let limit): return queue.count < limit
        case .duration(let limit):
            guard let rate = profile.rate.rate(at: now - start) else { return true }
            return queuedSize + size <= rate.dataSize(over: limit)
        }
    }

    /// Puts a packet where its arrival belongs: nearly always at the end.
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
