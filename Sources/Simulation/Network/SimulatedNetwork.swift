import LinkEmulation
import MediaCore

/// Links and the flows over them, on one virtual clock.
///
/// All activity consists of events in one queue, ordered by time, then by kind, then by the order in which they were
/// scheduled. So the same links, flows and seeds give the same run.
final class SimulatedNetwork {
    private enum Event {
        case timer(flow: Int, tag: Int)
        case sample
        case link(Int)
        case wake(flow: Int)
    }

    /// It is a class so that access to a link copies nothing.
    private final class Link {
        var model: LinkModel<SimulatedPacket>
        /// The time of the link's scheduled event. Later times are not scheduled before it.
        var scheduled = MonotonicInstant.distantFuture

        init(_ model: LinkModel<SimulatedPacket>) {
            self.model = model
        }
    }

    private struct Attachment {
        var flow: AttachedFlow
        var path: NetworkPath
        var scheduled = MonotonicInstant.distantFuture
    }

    /// The rank of arrivals. At the same time, timers and samples come first, then arrivals, then the flows' own work.
    private static let arrivalRank: UInt8 = 1
    private static let wakeRank: UInt8 = 2

    private(set) var now = MonotonicInstant.zero
    private(set) var eventCount = 0
    private var events = EventQueue<Event>()
    private var links: [Link] = []
    private var attachments: [Attachment] = []
    private let sampleInterval: Duration

    init(sampleInterval: Duration) {
        self.sampleInterval = sampleInterval
    }

    func addLink(_ profile: LinkProfile, seed: UInt64) -> Int {
        links.append(Link(LinkModel(profile: profile, seed: seed, start: .zero)))
        return links.count - 1
    }

    var nextFlow: Int { attachments.count }

    /// Adds a flow, whose number is `nextFlow`, to a path of at least one link in each direction.
    func addFlow<Flow: SimulatedFlow>(_ flow: Flow, path: NetworkPath) -> Attached<Flow> {
        precondition(!path.forward.isEmpty && !path.backward.isEmpty, "a path needs a link each way")
        let attached = Attached(flow)
        attachments.append(Attachment(flow: attached, path: path))
        return attached
    }

    /// Runs until a time, including events at that time.
    func run(until end: MonotonicInstant) {
        for attachment in attachments { attachment.flow.begin(self) }
        events.schedule(.sample, at: .zero + sampleInterval)
        while let time = events.nextTime, time <= end {
            now = max(now, time)
            guard let event = events.popDue(now: now) else { break }
            eventCount += 1
            handle(event, scheduledFor: time)
        }
        now = end
    }

    private func handle(_ event: Event, scheduledFor time: MonotonicInstant) {
        switch event {
        case .timer(let flow, let tag): attachments[flow].flow.timer(tag, self)
        case .sample:
            for attachment in attachments { attachment.flow.sample(self) }
            events.schedule(.sample, at: now + sampleInterval)
        case .link(let link):
            guard links[link].scheduled == time else { return }
            links[link].scheduled = .distantFuture
            deliver(from: link)
        case .wake(let flow):
            guard attachments[flow].scheduled == time else { return }
            attachments[flow].scheduled = .distantFuture
            attachments[flow].flow.wake(self)
        }
    }

    // MARK: For flows

    /// Schedules a call of `timer` at a time.
    func schedule(flow: Int, tag: Int, at time: MonotonicInstant) {
        events.schedule(.timer(flow: flow, tag: tag), at: max(time, now))
    }

    /// Schedules a call of `wake` at a time or earlier.
    func wake(flow: Int, at time: MonotonicInstant) {
        guard time < attachments[flow].scheduled, time < .distantFuture else { return }
        let time = max(time, now)
        attachments[flow].scheduled = time
        events.schedule(.wake(flow: flow), at: time, rank: Self.wakeRank)
    }

    /// Sends a packet on its flow's path.
    func send(_ packet: SimulatedPacket) {
        let path = attachments[packet.flow].path
        let hops = packet.direction == .forward ? path.forward : path.backward
        guard packet.hop < hops.count else {
            attachments[packet.flow].flow.receive(packet, self)
            return
        }
        let number = hops[packet.hop]
        let link = links[number]
        link.model.send(packet, size: packet.size, ecn: packet.ecn, flow: packet.flow, now: now)
        scheduleDelivery(from: link, number)
    }

    private func scheduleDelivery(from link: Link, _ number: Int) {
        let next = link.model.readNextDelivery()
        guard next < link.scheduled else { return }
        let time = max(next, now)
        link.scheduled = time
        events.schedule(.link(number), at: time, rank: Self.arrivalRank)
    }

    private func deliver(from number: Int) {
        let link = links[number]
        while let delivery = link.model.deliverTimed(now: now) {
            var packet = delivery.packet
            packet.hop += 1
            packet.ecn = delivery.ecn
            packet.queueingDelay += delivery.queueingDelay
            send(packet)
        }
        scheduleDelivery(from: link, number)
    }

    // MARK: For measurements

    /// Returns the size that a path could carry between two times since the beginning, which is that of its tightest
    /// link; nil if no link is limited.
    func capacity(of links: [Int], from begin: Duration, to end: Duration) -> DataSize? {
        var least: DataSize?
        for link in links {
            let profile = self.links[link].model.profile
            if let size = profile.rate.capacity(from: begin, to: end) { least = min(least ?? size, size) }
            if let size = profile.policer?.rate.dataSize(over: end - begin) { least = min(least ?? size, size) }
        }
        return least
    }

    /// Returns the time that a packet would wait in the queues of a path if it were in all of them now.
    func queueDelay(of links: [Int]) -> Duration {
        links.reduce(.zero) { $0 + self.links[$1].model.queueDelay(now: now) }
    }

    func path(of flow: Int) -> NetworkPath { attachments[flow].path }

    func statistics(of link: Int) -> LinkModel<SimulatedPacket>.Statistics { links[link].model.statistics }
}

extension LinkModel {
    /// Returns `nextDelivery` in place: a getter of a class's property would copy the link first.
    fileprivate mutating func readNextDelivery() -> MonotonicInstant { nextDelivery }
}
