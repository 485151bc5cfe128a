import Foundation
import MediaCore

@testable import Cluster

/// Relays' directories around one twin, on virtual time, with faults.
final class ClusterWorld {
    struct Relay {
        var directory: ClusterDirectory
        /// The time by which its clock is ahead.
        var clockOffset = Duration.zero
        var isPartitioned = false
        var isStopped = false
        /// Participants by room.
        var members: [String: Int] = [:]
        var notices: [ClusterNotice] = []
        /// Counts processes of this name.
        var generation = 0
    }

    private enum Event {
        case request(DirectoryRequestID, DirectoryRequest, generation: Int)
        case response(DirectoryResponse, DirectoryRequestID, generation: Int)
        case join(room: String, hops: Int?, isFurther: Bool, since: MonotonicInstant)
    }

    let twin = DirectoryTwin()
    private(set) var relays: [NodeID: Relay] = [:]
    private(set) var now = MonotonicInstant.zero
    private var events: [(at: MonotonicInstant, order: Int, node: NodeID, event: Event)] = []
    private var order = 0
    private(set) var random: SeededGenerator
    /// Called after each step.
    var inspect: (ClusterWorld) -> Void = { _ in }
    var refusedJoins = 0
    /// Participants of a room at a relay.
    var roomLimit = Int.max
    var losesAnswers = true

    /// The longest time that an engine takes to say that a request failed.
    private static let requestTimeout = Duration.seconds(2)

    init(nodes: [String], regions: [String] = ["here"], seed: UInt64) {
        random = SeededGenerator(seed: seed)
        for (index, name) in nodes.enumerated() {
            guard let node = NodeID(rawValue: name) else { continue }
            relays[node] = Relay(directory: makeDirectory(node, region: regions[index % regions.count], generation: 0))
        }
    }

    private func makeDirectory(_ node: NodeID, region: String, generation: Int) -> ClusterDirectory {
        ClusterDirectory(
            node: node,
            record: NodeRecord(
                url: "http://\(node)", region: region, version: "test", seatsLeft: 20,
                instance: "\(node)-\(generation)"),
            random: SeededGenerator(seed: random.next()))
    }

    var nodes: [NodeID] { relays.keys.sorted() }

    func localNow(_ node: NodeID) -> MonotonicInstant { now + (relays[node]?.clockOffset ?? .zero) }

    func standing(_ node: NodeID, _ room: String) -> RoomStanding? {
        relays[node]?.directory.standing(of: room, now: localNow(node))
    }

    // MARK: Faults

    func setPartitioned(_ isPartitioned: Bool, _ node: NodeID) {
        relays[node]?.isPartitioned = isPartitioned
    }

    func setStopped(_ isStopped: Bool, _ node: NodeID) {
        relays[node]?.isStopped = isStopped
        if !isStopped { wake(node) }
    }

    func jumpClock(_ node: NodeID, by duration: Duration) {
        relays[node]?.clockOffset += duration
        wake(node)
    }

    /// Ends a process without a goodbye and starts another of its name.
    func restart(_ node: NodeID) {
        guard let old = relays[node] else { return }
        let generation = old.generation + 1
        twin.breakWatch(of: node)
        relays[node] = Relay(
            directory: makeDirectory(node, region: old.directory.record.region, generation: generation),
            isPartitioned: old.isPartitioned, generation: generation)
        wake(node)
    }

    /// Ends a process for good.
    func kill(_ node: NodeID) {
        twin.breakWatch(of: node)
        relays[node] = nil
    }

    // MARK: What relays and clients do

    func update(_ node: NodeID, _ change: (inout ClusterDirectory, MonotonicInstant) -> Void) {
        guard relays[node]?.isStopped == false else { return }
        let localNow = localNow(node)
        if var relay = relays[node] {
            relays[node] = nil
            change(&relay.directory, localNow)
            relays[node] = relay
        }
        drain(node)
    }

    func join(_ room: String, at node: NodeID, hops: Int? = nil) {
        schedule(.join(room: room, hops: hops, isFurther: false, since: now), node, in: .zero)
    }

    func leave(_ room: String, at node: NodeID) {
        guard let count = relays[node]?.members[room], relays[node]?.isStopped == false else { return }
        relays[node]?.members[room] = count > 1 ? count - 1 : nil
        if count == 1 { update(node) { $0.roomClosed(room, now: $1) } }
    }

    private func performJoin(
        _ room: String, at node: NodeID, hops: Int?, isFurther: Bool, since: MonotonicInstant
    ) {
        guard let relay = relays[node], !relay.isStopped else { return }
        var decision = PlacementDecision.here
        let isImpatient = now - since >= .seconds(2)
        let isFull = relay.members[room, default: 0] >= roomLimit
        update(node) { directory, localNow in
            decision = directory.place(
                room, hops: hops, isFurther: isFurther, isFull: isFull, isImpatient: isImpatient, now: localNow)
        }
        switch decision {
        case .here:
            guard relay.directory.record.state == .serving, !isFull else {
                refusedJoins += 1
                return
            }
            relays[node]?.members[room, default: 0] += 1
            update(node) { $0.roomOpened(room, now: $1) }
        case .pending:
            schedule(
                .join(room: room, hops: hops, isFurther: isFurther, since: since), node, in: .milliseconds(100))
        case .elsewhere(let other, _):
            schedule(
                .join(room: room, hops: (hops ?? 0) + 1, isFurther: false, since: now), other, in: .milliseconds(20))
        case .further(let other, _):
            schedule(
                .join(room: room, hops: (hops ?? 0) + 1, isFurther: true, since: now), other, in: .milliseconds(20))
        case .refused: refusedJoins += 1
        }
    }

    // MARK: Time

    func run(for duration: Duration) {
        let end = now + duration
        for node in nodes { wake(node) }
        while let next = nextEvent(), next <= end {
            now = max(now, next)
            step()
            inspect(self)
        }
        now = end
    }

    private func nextEvent() -> MonotonicInstant? {
        var next = events.map(\.at).min() ?? .distantFuture
        for (node, relay) in relays where !relay.isStopped {
            if !relay.isPartitioned, twin.news(peekingFor: node) { next = min(next, now + .milliseconds(5)) }
            let wakeUp = relay.directory.nextWakeUp(now: localNow(node))
            if wakeUp < .distantFuture { next = min(next, wakeUp - relay.clockOffset) }
        }
        return next < .distantFuture ? max(next, now) : nil
    }

    private func step() {
        twin.expireLeases(now: now)
        let due = events.filter { $0.at <= now }.sorted { $0.order < $1.order }
        events.removeAll { $0.at <= now }
        for (_, _, node, event) in due { perform(event, node) }
        for node in nodes {
            guard let relay = relays[node], !relay.isStopped else { continue }
            if !relay.isPartitioned {
                while let (id, news) = twin.news(of: node) { update(node) { $0.receive(news, of: id, now: $1) } }
            }
            if relay.directory.nextWakeUp(now: localNow(node)) <= localNow(node) { wake(node) }
        }
    }

    private func wake(_ node: NodeID) { update(node) { $0.wake(now: $1) } }

    private func perform(_ event: Event, _ node: NodeID) {
        guard let relay = relays[node] else { return }
        switch event {
        case .join(let room, let hops, let isFurther, let since):
            performJoin(room, at: node, hops: hops, isFurther: isFurther, since: since)
        case .request(let id, let request, let generation):
            guard !relay.isPartitioned else { return fail(id, request, node, generation) }
            guard let response = twin.perform(request, id: id, of: node, now: now) else { return }
            // Some answers are lost after the request was performed.
            if losesAnswers, Int.random(in: 0..<50, using: &random) == 0 { return fail(id, request, node, generation) }
            schedule(.response(response, id, generation: generation), node, in: latency())
        case .response(let response, let id, let generation):
            guard relay.generation == generation else { return }
            guard !relay.isStopped else {
                // It waits in the socket.
                return schedule(event, node, in: .milliseconds(100))
            }
            if relay.isPartitioned, response != .failed(reason: "timeout") {
                return schedule(
                    .response(.failed(reason: "timeout"), id, generation: generation), node, in: .seconds(1))
            }
            update(node) { $0.receive(response, to: id, now: $1) }
        }
    }

    private func fail(_ id: DirectoryRequestID, _ request: DirectoryRequest, _ node: NodeID, _ generation: Int) {
        if case .watch = request {
            update(node) { $0.receive(.ended(isIncomplete: false), of: id, now: $1) }
        } else {
            schedule(.response(.failed(reason: "timeout"), id, generation: generation), node, in: Self.requestTimeout)
        }
    }

    private func latency() -> Duration { .milliseconds(Int.random(in: 1...30, using: &random)) }

    /// Takes out what a directory wants done.
    private func drain(_ node: NodeID) {
        while let notice = relays[node]?.directory.pollNotice() { relays[node]?.notices.append(notice) }
        while let (id, request) = relays[node]?.directory.pollRequest() {
            let generation = relays[node]?.generation ?? 0
            schedule(.request(id, request, generation: generation), node, in: latency())
        }
    }

    private func schedule(_ event: Event, _ node: NodeID, in delay: Duration) {
        order += 1
        events.append((now + delay, order, node, event))
    }

    func pick<Element>(_ elements: [Element]) -> Element? { elements.randomElement(using: &random) }

    func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
}
