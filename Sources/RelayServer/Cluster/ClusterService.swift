import Cluster
import Compositing
import Conference
import Foundation
import Hummingbird
import Logging
import MediaCore
import RoomMedia
import SecureTransport

/// Runs the relay's `ClusterDirectory`: performs its requests, keeps its clock, and tells it once a second how the
/// relay is. Nothing of a call waits for it but the answer to a join.
actor ClusterService {
    nonisolated let node: NodeID
    /// Brings joins to other relays; nil: clients are sent there.
    nonisolated let joinProxy: JoinProxy?
    private(set) var directory: ClusterDirectory
    private let hasAdvertisedURL: Bool
    private let engine: any DirectoryEngine
    let driver: RelayDriver
    let logger: Logger
    let now: @Sendable () -> MonotonicInstant
    private(set) var counters = ClusterCounters()
    private var watch: Task<Void, Never>?
    private var alarm: (task: Task<Void, Never>, instant: MonotonicInstant)?
    /// Joins that wait for news of a room.
    private var waiters: [String: [CheckedContinuation<Void, Never>]] = [:]
    private var inherited = InheritedSettings()
    /// Rooms that take nobody more here, and rooms from which this relay may keep somebody out, as last heard.
    private var fullRooms: Set<String> = []
    private var restrictedRooms: Set<String> = []
    private(set) var pageOrigins = PageOrigins()
    /// Makes links to other relays of its rooms.
    let links: CascadeDialer
    /// The links that `links` was told of last.
    private var arranged: (peers: [CascadeDialer.Peer], epochs: [String: Int64]) = ([], [:])
    private var failureReason: String?
    /// The earliest time of the next warning about a late ticket.
    var nextLateTicketWarning = MonotonicInstant.zero
    private var isClosed = false
    /// The number of the newest occupancy that the directory was told.
    private var newestOccupancy: UInt64 = 0

    /// How long a join waits for the directory.
    private static let patience = Duration.seconds(2)
    /// How long the start waits for the directory: joins before it answers would open rooms here alone.
    static let startPatience = Duration.seconds(2)
    private static let tickInterval = Duration.seconds(1)
    /// Relays that are tried before a client is sent on that has lost its relay.
    private static let maximumProbes = 3

    init(
        _ settings: ClusterSettings, url: String, engine: any DirectoryEngine, driver: RelayDriver, logger: Logger,
        now: @escaping @Sendable () -> MonotonicInstant = { .now() }
    ) {
        node = settings.node
        joinProxy = settings.joinBy == .proxy ? JoinProxy() : nil
        hasAdvertisedURL = settings.advertisedURL != nil
        self.engine = engine
        self.driver = driver
        self.logger = logger
        self.now = now
        links = CascadeDialer(node: settings.node, driver: driver, logger: logger, now: now)
        var random = SystemRandomNumberGenerator()
        directory = ClusterDirectory(
            node: settings.node,
            record: NodeRecord(
                url: url, region: settings.region, version: RelayVersion.current,
                instance: String(random.next(), radix: 36), signsHeads: true),
            random: random)
    }

    /// - Returns: nil: the relay is in no cluster.
    init?(
        _ settings: ClusterSettings?, engine: EtcdClient?, ownURL: String, driver: RelayDriver, logger: Logger
    ) {
        guard let settings, let engine else { return nil }
        self.init(
            settings, url: settings.advertisedURL ?? ownURL, engine: engine, driver: driver, logger: logger)
    }

    // MARK: Running

    /// Runs `tick()` once a second until the task is cancelled.
    func run() async {
        repeat { await tick() } while (try? await Task.sleep(for: Self.tickInterval)) != nil
    }

    /// Tells the directory the relay's state, and tries again to restore the settings of rooms that came from other
    /// relays.
    func tick() async {
        await readOccupancy()
        for room in inherited.rooms { await restore(room) }
    }

    /// Tells the directory how the relay is now.
    func readOccupancy() async {
        // Another reading may overtake this one on its way.
        guard let (number, occupancy) = await driver.readOccupancy(), number > newestOccupancy else { return }
        newestOccupancy = number
        adopt(occupancy)
    }

    /// Gives the lease back, so that others need not wait for its end.
    func close() async {
        guard !isClosed else { return }
        isClosed = true
        directory.close(now: now())
        await links.close()
        await joinProxy?.close()
        watch?.cancel()
        alarm?.task.cancel()
        var last: [DirectoryRequest] = []
        while let (_, request) = directory.pollRequest() { last.append(request) }
        // The task of a stop that takes too long is cancelled, and then sends nothing.
        await Task { [engine, last] in
            await withTaskGroup(of: Void.self) { group in
                for request in last.dropLast() { group.addTask { _ = await engine.perform(request) } }
            }
            if let end = last.last { _ = await engine.perform(end) }
        }.value
        for room in waiters.keys { wakeWaiters(of: room) }
        await engine.close()
    }

    /// Announces where the relay is by now, unless its operator has said that.
    func ownURLChanged(to url: String) {
        guard !hasAdvertisedURL, directory.record.url != url else { return }
        directory.update({ $0.url = url }, now: now())
        settle()
    }

    private func adopt(_ occupancy: RelayOccupancy) {
        let now = now()
        directory.update(
            { record in
                record.seatsLeft = occupancy.seatsLeft
                record.participants = occupancy.participants
                record.rooms = occupancy.rooms.count
            }, now: now)
        for (room, settings) in occupancy.rooms {
            directory.roomOpened(room, now: now)
            publish(settings, of: room, now: now)
        }
        for room in directory.presentRooms where occupancy.rooms[room] == nil {
            directory.roomClosed(room, now: now)
            inherited.forget(room)
        }
        (fullRooms, restrictedRooms) = (occupancy.fullRooms, occupancy.restrictedRooms)
        inherited.forgetOld(now: now)
        pageOrigins.note(directory.nodes.values, now: now)
        settle()
        arrangeLinks()
    }

    private func publish(_ settings: RelayOccupancy.RoomSettings, of room: String, now: MonotonicInstant) {
        guard !inherited.stillHold(in: room, with: settings) else { return }
        inherited.forget(room)
        guard !settings.areDefault || directory.hasSettings(room) else { return }
        directory.setSettings(settings.directoryValue, of: room, now: now)
    }

    /// Performs what the directory wants, and sets the clock for the rest.
    private func settle() {
        while let notice = directory.pollNotice() { handle(notice) }
        guard !isClosed else { return }
        while let (id, request) = directory.pollRequest() { start(request, id) }
        setAlarm()
    }

    private func start(_ request: DirectoryRequest, _ id: DirectoryRequestID) {
        counters.requests += 1
        if case .watch(let revision) = request {
            watch?.cancel()
            watch = Task { [engine, weak self] in
                await engine.watch(from: revision) { [weak self] in await self?.receive($0, of: id) }
            }
            return
        }
        Task { [engine, weak self] in
            let response = await engine.perform(request)
            await self?.receive(response, to: id)
        }
    }

    private func receive(_ response: DirectoryResponse, to id: DirectoryRequestID) {
        if case .failed(let reason) = response {
            counters.failures += 1
            if failureReason != reason {
                failureReason = reason
                logger.debug("the directory of the cluster: \(reason)")
            }
        }
        directory.receive(response, to: id, now: now())
        settle()
    }

    private func receive(_ news: DirectoryNews, of id: DirectoryRequestID) {
        directory.receive(news, of: id, now: now())
        settle()
        // Another relay may have got people of a room.
        arrangeLinks(ifChanged: true)
    }

    private func setAlarm() {
        let now = now()
        let next = max(directory.nextWakeUp(now: now), now + .milliseconds(1))
        if let alarm, alarm.instant <= next, alarm.instant > now { return }
        alarm?.task.cancel()
        guard next < .distantFuture else {
            alarm = nil
            return
        }
        let task = Task { [weak self] in
            guard (try? await Task.sleep(for: next - now)) != nil else { return }
            await self?.alarmRang()
        }
        alarm = (task, next)
    }

    private func alarmRang() {
        alarm = nil
        directory.wake(now: now())
        settle()
    }

    private func handle(_ notice: ClusterNotice) {
        switch notice {
        case .reachable(true):
            failureReason = nil
            logger.notice("the cluster's directory answers", metadata: ["node": "\(node)"])
        case .reachable(false):
            counters.outages += 1
            logger.warning(
                "the cluster's directory does not answer; calls go on, and rooms open here by themselves",
                metadata: failureMetadata)
        case .nameInUse(let node):
            logger.notice(
                """
                the cluster has a relay '\(node)', which goes within seconds if it has ended; until then rooms open \
                here by themselves
                """)
        case .nameTaken(let node):
            logger.error("another relay of the cluster has the name '\(node)'; give each its own --node-id")
        case .standing(let standing, let room):
            logger.info("room placed", metadata: ["room": "\(room)", "standing": "\(standing)"])
            wakeWaiters(of: room)
        case .settings(let bytes, let room):
            guard let settings = RelayOccupancy.RoomSettings(directory: bytes) else { return }
            inherited.take(settings, of: room, now: now())
        }
    }

    // MARK: Joins

    /// Where a join goes, with two other relays to try if that one does not answer.
    struct Placement: Sendable {
        var decision: PlacementDecision
        var alternates: [String] = []
    }

    /// Decides where a join goes. Waits for the directory for two seconds at most.
    ///
    /// - Parameters:
    ///   - hops: How often relays have sent the client on; nil: it comes by itself.
    ///   - isFurther: This relay is to join the room's relays.
    ///   - isRejoining: The client has proved that it had a session in this room and lost its relay.
    func place(_ room: String, hops: Int?, isFurther: Bool, isRejoining: Bool) async -> Placement {
        if isRejoining { counters.rejoins += 1 }
        // The figures of the last second may be old.
        await readOccupancy()
        var decision = await decide(room, hops: hops, isFurther: isFurther)
        if isRejoining, case .elsewhere(let owner, let url) = decision,
            let epoch = directory.owner(of: room).flatMap({ $0.node == owner ? $0.epoch : nil }),
            await !RelayProbe.answers(at: url)
        {
            logger.notice("a room's relay is dead", metadata: ["room": "\(room)", "relay": "\(owner)"])
            counters.takeovers += 1
            directory.depose(epoch, of: room, now: now())
            settle()
            decision = await decide(room, hops: hops, isFurther: isFurther)
        }
        for _ in 0..<Self.maximumProbes where isRejoining {
            guard case .further(let other, let url) = decision, await !RelayProbe.answers(at: url) else { break }
            // Probably it is the relay that the client has lost.
            directory.relayIsMissing(other, now: now())
            decision = await decide(room, hops: hops, isFurther: isFurther)
        }
        var target = node
        switch decision {
        case .elsewhere(let other, _), .further(let other, _):
            target = other
            counters.joinsRedirected += 1
        case .refused: counters.joinsRefused += 1
        case .here, .pending: counters.joinsHere += 1
        }
        return Placement(decision: decision, alternates: directory.alternates(to: target, now: now()))
    }

    private func decide(_ room: String, hops: Int?, isFurther: Bool) async -> PlacementDecision {
        let end = now() + Self.patience
        while true {
            let decision = directory.place(
                room, hops: hops, isFurther: isFurther, isFull: fullRooms.contains(room),
                mayExtend: !restrictedRooms.contains(room),
                isImpatient: now() >= end || isClosed, now: now())
            settle()
            guard decision == .pending else { return decision }
            let limit = Task { [weak self, now] in
                guard (try? await Task.sleep(for: max(end - now(), .milliseconds(1)))) != nil else { return }
                await self?.wakeWaiters(of: room)
            }
            await withCheckedContinuation { waiters[room, default: []].append($0) }
            limit.cancel()
        }
    }

    private func wakeWaiters(of room: String) {
        for waiter in waiters.removeValue(forKey: room) ?? [] { waiter.resume() }
    }

    /// The conditions for entering that a room had on its last relay; nil: it had none, or they hold no longer.
    func inheritedConditions(of room: String) -> EntryConditions? {
        inherited.settings(of: room, now: now())?.conditions
    }

    /// Gives a room that somebody has joined the layout and overlays that it had on its last relay.
    func restoreSettings(of room: String) async {
        await readOccupancy()
        await restore(room)
    }

    private func restore(_ room: String) async {
        guard let former = inherited.settings(of: room, now: now()) else { return }
        if inherited.lacksOverlays(room), (try? await driver.perform(.setOverlays(former.overlays), room: room)) != nil
        {
            inherited.overlaysAreSet(in: room)
        }
        // The room refuses a layout that names a participant who has not come back yet: `tick()` sets it again later.
        let hasLayout: Void? = try? await driver.perform(.setLayout(former.layout), room: room)
        if hasLayout != nil, !inherited.lacksOverlays(room) { inherited.forget(room) }
    }

    /// Tells a client that stays in a room here whether other relays have it, and two relays to try if this one dies.
    func stay(inRoom room: String) -> (isFurther: Bool, alternates: [String]) {
        (!directory.otherRelays(of: room).isEmpty, directory.alternates(to: node, now: now()))
    }

    /// Tells which links there have to be. While the directory is away, those that there are stay.
    ///
    /// - Parameter ifChanged: True where the same as before need not be told again.
    private func arrangeLinks(ifChanged: Bool = false) {
        let now = now()
        guard !isClosed, directory.isReachable(now: now), let secret = directory.secret else { return }
        var wanted: [CascadeDialer.Peer] = []
        var epochs: [String: Int64] = [:]
        for room in directory.presentRooms {
            if case .leading(let epoch) = directory.standing(of: room, now: now) { epochs[room] = epoch }
            guard let epoch = directory.owner(of: room)?.epoch else { continue }
            for other in directory.otherRelays(of: room).prefix(ClusterDirectory.maximumRelaysOfRoom - 1) {
                guard let record = directory.nodes[other] else { continue }
                wanted.append(
                    CascadeDialer.Peer(
                        room: room, node: other, url: record.url, epoch: epoch,
                        signsHeads: record.signsHeads == true))
            }
        }
        guard !ifChanged || wanted != arranged.peers || epochs != arranged.epochs else { return }
        arranged = (wanted, epochs)
        links.arrange(wanted, leading: epochs, secret: secret, among: Set(directory.nodes.keys))
    }

    /// Gives all rooms away, or takes rooms again.
    func setDraining(_ isDraining: Bool) {
        directory.setDraining(isDraining, now: now())
        settle()
    }

    /// Waits until the directory answers, for a moment at most, and tells the log if it does not.
    func waitUntilReachable(upTo limit: Duration) async {
        let end = now() + limit
        settle()
        directory.wake(now: now())
        settle()
        while !directory.isReachable(now: now()), now() < end {
            guard (try? await Task.sleep(for: .milliseconds(20))) != nil else { return }
        }
        // Of a name in use the log has been told.
        guard !directory.isReachable(now: now()), !directory.waitsForName else { return }
        logger.warning(
            "the cluster's directory does not answer yet; rooms open here by themselves", metadata: failureMetadata)
    }

    private var failureMetadata: Logger.Metadata { failureReason.map { ["reason": "\($0)"] } ?? [:] }
}
