public import MediaCore

/// One relay's part in the cluster: its lease and record in the directory, a mirror of the others', and the rooms that
/// it leads.
///
/// It does no I/O: an engine performs the requests of `pollRequest` and brings the answers. Calls never depend on it.
/// It decides only where joins go. A relay leads a room while its epoch, the create revision of the room's owner key,
/// is that of the directory; each write about a room has the epoch as a condition, so a relay that was stopped and
/// wakes up changes nothing.
public struct ClusterDirectory {
    /// The lease of a relay's own keys: a relay that dies is gone after this long.
    public static let leaseDuration = Duration.seconds(5)
    public static let renewalInterval = Duration.milliseconds(1500)
    /// The lease of rooms' settings, which outlive their relay by this long.
    public static let settingsLeaseDuration = Duration.seconds(600)
    static let settingsRenewalInterval = Duration.seconds(60)
    /// The shortest time between two writes of the relay's record.
    public static let publishInterval = Duration.seconds(1)
    /// The record is written this often even if nothing has changed: a watch that does not tell of it is dead.
    static let beatInterval = Duration.seconds(10)
    /// The longest time after which a watch tells of this relay's own writes.
    static let watchPatience = Duration.seconds(5)
    /// The time for which a room is kept for a client that was let in and has not come.
    static let expectation = Duration.seconds(15)
    /// The largest number of times that a client is sent on.
    public static let maximumHops = 3
    /// Requests about rooms that are under way at once.
    static let maximumRoomRequests = 32
    static let retryInterval = Duration.milliseconds(500)
    /// Notices that wait; more are not kept.
    static let maximumNotices = 4096

    public let node: NodeID
    public internal(set) var record: NodeRecord

    enum Purpose {
        case nodeLease, settingsLease, page, register
        case publish(NodeRecord)
        case secret
        case room(String, RoomPurpose)

        /// False for transactions that delete what may not be there. Their revision may be one that others of etcd's
        /// users have made, of which no watch tells.
        var surelyWrites: Bool {
            switch self {
            case .room(_, .unlist), .room(_, .deleteSettings), .room(_, .settings(nil, _)): false
            default: true
            }
        }
    }

    enum RoomPurpose {
        case depose
        case claim(LeaseID)
        case list(epoch: Int64)
        case settings([UInt8]?, epoch: Int64)
        case close, unlist, deleteSettings
    }

    var nodeLease = LeaseKeeper(timeToLive: leaseDuration, renewalInterval: renewalInterval)
    var settingsLease = LeaseKeeper(timeToLive: settingsLeaseDuration, renewalInterval: settingsRenewalInterval)
    var mirror = DirectoryMirror()
    var rooms: [String: LocalRoom] = [:]
    /// Rooms whose next step may be due.
    var unsettled: Set<String> = []
    var promises = SeatPromises()
    /// Relays that do not answer although their leases have not ended.
    var missing: [NodeID: (instance: String, until: MonotonicInstant)] = [:]
    var random: any RandomNumberGenerator & Sendable

    /// Requests without an answer, with the last revision that was known when each was made.
    private var pending: [DirectoryRequestID: (purpose: Purpose, revision: Int64)] = [:]
    private var requests: [(DirectoryRequestID, DirectoryRequest)] = []
    private var notices: [ClusterNotice] = []
    private var nextRequest: UInt64 = 0
    var roomRequests = 0
    /// The create revision of the relay's own record; nil: it is not registered with its lease.
    private var registration: Int64?
    private var isRegistering = false
    private var registrationRetry = MonotonicInstant.zero
    private var published: NodeRecord?
    private var isPublishing = false
    private var nextPublish = MonotonicInstant.zero
    private var nextBeat = MonotonicInstant.zero
    /// A write of this relay that the watch has to tell of.
    private var awaited: (revision: Int64, deadline: MonotonicInstant)?
    private var isMakingSecret = false
    /// Goes back into a directory that has lost its data: clients have keys that were made with it.
    private(set) var lastSecret: [UInt8]?
    private var wasReachable = false
    /// Since when the relay finds its name in use, when it found that last, and whether it has told that this lasts.
    private var nameConflict: (since: MonotonicInstant, last: MonotonicInstant, isTold: Bool)?
    private(set) var isClosed = false

    /// - Parameter random: Chooses relays, and makes the cluster's secret if it has none: outside tests the system's.
    public init(node: NodeID, record: NodeRecord, random: any RandomNumberGenerator & Sendable) {
        self.node = node
        self.record = record
        self.random = random
    }

    // MARK: The relay's own record

    /// Tells how the relay is. It is written at most once a second.
    public mutating func update(_ change: (inout NodeRecord) -> Void, now: MonotonicInstant) {
        change(&record)
        wake(now: now)
    }

    /// Gives the lease back, as the last request: the relay ends. The settings of its empty rooms are deleted; those of
    /// the others are written, for the relays to which their participants go.
    public mutating func close(now: MonotonicInstant) {
        guard !isClosed else { return }
        isClosed = true
        requests.removeAll()
        // No answer is waited for any more.
        pending.removeAll()
        roomRequests = 0
        unsettled = []
        for (room, local) in rooms where !local.isPresent || local.disposesOfSettings {
            var last = local
            (last.expectedUntil, last.isBusy, last.retryAt) = (now, false, now)
            rooms[room] = last
            unsettled.insert(room)
        }
        stepRooms(now: now)
        for lease in [nodeLease.heldLease].compactMap(\.self) { send(.endLease(lease), for: nil) }
    }

    /// Whether the directory answers, and this relay's keys are surely there.
    public func isReachable(now: MonotonicInstant) -> Bool {
        registration != nil && nodeLease.lease(now: now) != nil && mirror.isLive
    }

    /// True if the relay waits for the end of an earlier one, or another one has its name.
    public var waitsForName: Bool { nameConflict != nil }

    /// True if the relay is in the directory by its own name.
    var isRegistered: Bool { registration != nil }

    // MARK: Requests and their answers

    /// The next request for the engine.
    public mutating func pollRequest() -> (DirectoryRequestID, DirectoryRequest)? {
        requests.isEmpty ? nil : requests.removeFirst()
    }

    public mutating func pollNotice() -> ClusterNotice? { notices.isEmpty ? nil : notices.removeFirst() }

    /// The next time at which `wake` must be called.
    public func nextWakeUp(now: MonotonicInstant) -> MonotonicInstant {
        guard !isClosed else { return .distantFuture }
        var next = min(nodeLease.nextWakeUp, settingsLease.nextWakeUp, mirror.nextWakeUp)
        if nodeLease.lease(now: now) != nil {
            // The parts that depend on the lease notice its end.
            next = min(next, nodeLease.validUntil)
            if mirror.isLive {
                if registration == nil, !isRegistering { next = min(next, registrationRetry) }
                if registration != nil, !isPublishing {
                    next = min(next, published == record ? nextBeat : nextPublish)
                }
                if let awaited { next = min(next, awaited.deadline) }
                if mirror.contents.secret == nil, !isMakingSecret { next = min(next, registrationRetry) }
            }
        }
        let isReachable = isReachable(now: now)
        for (room, local) in rooms where !local.isBusy {
            if !local.isPresent, now < local.expectedUntil { next = min(next, local.expectedUntil) }
            if isReachable ? unsettled.contains(room) : !local.isWanted(now: now) && !local.mayHaveKeys,
                roomRequests < Self.maximumRoomRequests
            {
                next = min(next, max(now, local.retryAt))
            }
        }
        return next
    }

    /// Performs the work that is due.
    public mutating func wake(now: MonotonicInstant) {
        guard !isClosed else { return }
        if let request = nodeLease.step(now: now) { send(request, for: .nodeLease) }
        if let request = settingsLease.step(now: now) { send(request, for: .settingsLease) }
        checkWatch(now: now)
        stepMirror(now: now)
        if let lease = nodeLease.lease(now: now), mirror.isLive {
            stepRegistration(lease, now: now)
            stepSecret(now: now)
        }
        tellReachability(now: now)
        stepRooms(now: now)
    }

    /// Takes the answer to a request.
    public mutating func receive(_ response: DirectoryResponse, to id: DirectoryRequestID, now: MonotonicInstant) {
        guard let (purpose, known) = pending.removeValue(forKey: id) else { return }
        if case .committed(let revision, _) = response {
            // A directory's revisions only grow. This one has lost its data.
            if revision < known { startAnew(now: now) }
            if awaited == nil, purpose.surelyWrites { awaited = (revision, now + Self.watchPatience) }
        }
        switch purpose {
        case .nodeLease: receiveNodeLease(response, now: now)
        case .settingsLease:
            switch settingsLease.receive(response, now: now) {
            case .lost, .granted: rewriteSettings()
            case .renewed, .failed: break
            }
        case .page:
            if mirror.receive(response, now: now) {
                reconcile(Set(rooms.keys).union(mirror.contents.owners.keys), now: now)
            }
        case .register: receiveRegistration(response, now: now)
        case .publish(let record):
            isPublishing = false
            switch response {
            case .committed: published = record
            case .conflict: registration = nil
            default: break
            }
        case .secret:
            isMakingSecret = false
            registrationRetry = now + Self.retryInterval
        case .room(let room, let purpose): receive(response, to: purpose, of: room, now: now)
        }
        wake(now: now)
    }

    /// Takes what a watch tells.
    public mutating func receive(_ news: DirectoryNews, of watch: DirectoryRequestID, now: MonotonicInstant) {
        if let changed = mirror.receive(news, of: watch, now: now) { reconcile(changed, now: now) }
        wake(now: now)
    }

    mutating func send(_ request: DirectoryRequest, for purpose: Purpose?) {
        nextRequest += 1
        let id = DirectoryRequestID(rawValue: nextRequest)
        if let purpose { pending[id] = (purpose, mirror.revision ?? 0) }
        requests.append((id, request))
    }

    mutating func tell(_ notice: ClusterNotice) {
        if notices.count < Self.maximumNotices { notices.append(notice) }
    }

    private mutating func stepMirror(now: MonotonicInstant) {
        let id = DirectoryRequestID(rawValue: nextRequest + 1)
        guard let request = mirror.step(id: id, now: now) else { return }
        if case .watch = request { send(request, for: nil) } else { send(request, for: .page) }
    }

    /// A connection may be dead without a word. A watch that does not tell of this relay's own writes is made anew.
    private mutating func checkWatch(now: MonotonicInstant) {
        guard let awaited else { return }
        if mirror.hasSeen(awaited.revision) {
            self.awaited = nil
        } else if now >= awaited.deadline {
            self.awaited = nil
            mirror.restartWatch(now: now)
        }
    }

    private mutating func tellReachability(now: MonotonicInstant) {
        let isReachable = isReachable(now: now)
        guard isReachable != wasReachable else { return }
        wasReachable = isReachable
        tell(.reachable(isReachable))
        unsettled.formUnion(rooms.keys)
    }

    private mutating func receiveNodeLease(_ response: DirectoryResponse, now: MonotonicInstant) {
        switch nodeLease.receive(response, now: now) {
        case .renewed: break
        case .granted: forgetKeys()
        case .lost: startAnew(now: now)
        case .failed: mirror.restartWatch(now: now + Self.retryInterval)
        }
    }

    /// The directory may be another, which has lost its data: its revisions say nothing about those of the old one.
    private mutating func startAnew(now: MonotonicInstant) {
        // Requests that are under way have the revisions of the old directory: each answer would begin anew once more.
        for id in pending.keys { pending[id]?.revision = 0 }
        mirror.readAnew(now: now)
        awaited = nil
        // The other lease may be lost, too, and without it no settings are written.
        settingsLease.renewSoon(now: now)
        forgetKeys()
    }

    /// All keys that this relay has written are gone, or go.
    private mutating func forgetKeys() {
        registration = nil
        published = nil
        for room in rooms.keys {
            rooms[room]?.listing = .absent
            rooms[room]?.closing = nil
            setStanding(.unplaced, of: room)
        }
        unsettled.formUnion(rooms.keys)
    }

    private mutating func stepRegistration(_ lease: LeaseID, now: MonotonicInstant) {
        if registration == nil {
            guard !isRegistering, now >= registrationRetry else { return }
            isRegistering = true
            nextPublish = now + Self.publishInterval
            nextBeat = now + Self.beatInterval
            published = record
            send(
                .commit(
                    DirectoryTransaction(
                        conditions: [.init(key: .node(node), createRevision: 0)],
                        changes: [.put(.node(node), DirectoryValue.encode(record), lease)], reads: [.node(node)])),
                for: .register)
        } else if let registration, !isPublishing, now >= (published == record ? nextBeat : nextPublish) {
            isPublishing = true
            nextPublish = now + Self.publishInterval
            nextBeat = now + Self.beatInterval
            send(
                .commit(
                    DirectoryTransaction(
                        conditions: [.init(key: .node(node), createRevision: registration)],
                        changes: [.put(.node(node), DirectoryValue.encode(record), lease)], reads: [])),
                for: .publish(record))
        }
    }

    private mutating func receiveRegistration(_ response: DirectoryResponse, now: MonotonicInstant) {
        isRegistering = false
        switch response {
        case .committed(let revision, _):
            registration = revision
            nameConflict = nil
        case .conflict(let read):
            guard let entry = read.first,
                DirectoryValue.decode(NodeRecord.self, from: entry.value)?.instance == record.instance
            else {
                // An earlier process of this name ends within its lease. Only a relay that renews it is another.
                registrationRetry = now + Self.renewalInterval
                noteNameConflict(now: now)
                return
            }
            nameConflict = nil
            // The answer to an earlier registration was lost. Its record gets the lease that holds now.
            registration = entry.createRevision
            published = nil
        default: registrationRetry = now + Self.retryInterval
        }
    }

    private mutating func noteNameConflict(now: MonotonicInstant) {
        guard var conflict = nameConflict else {
            nameConflict = (now, now, false)
            return tell(.nameInUse(node))
        }
        // A directory that was away meanwhile gives all leases their whole time again.
        if now - conflict.last >= Self.leaseDuration { conflict.since = now }
        conflict.last = now
        if !conflict.isTold, now - conflict.since >= Self.leaseDuration * 2 {
            conflict.isTold = true
            tell(.nameTaken(node))
        }
        nameConflict = conflict
    }

    private mutating func stepSecret(now: MonotonicInstant) {
        lastSecret = mirror.contents.secret ?? lastSecret
        guard mirror.contents.secret == nil, !isMakingSecret, now >= registrationRetry else { return }
        isMakingSecret = true
        var secret = lastSecret ?? []
        while secret.count < ClusterSecret.size { secret.append(UInt8(truncatingIfNeeded: random.next())) }
        send(
            .commit(
                DirectoryTransaction(
                    conditions: [.init(key: .secret, createRevision: 0)], changes: [.put(.secret, secret, nil)],
                    reads: [])),
            for: .secret)
    }
}
