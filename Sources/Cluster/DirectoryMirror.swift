import MediaCore

/// A copy of the directory, as far as placement needs it: read once, then kept up to date by a watch.
struct DirectoryMirror {
    /// An owner and the epoch of its room.
    struct Ownership: Hashable {
        var owner: RoomOwner
        var epoch: Int64
    }

    struct Contents {
        var nodes: [NodeID: NodeRecord] = [:]
        var owners: [String: Ownership] = [:]
        /// The relays that have participants of a room, by rooms.
        var relays: [String: Set<NodeID>] = [:]
        var secret: [UInt8]?

        /// Relays and rooms that are followed; others are not known.
        static let maximumNodes = 1024
        static let maximumRooms = 200_000
        /// A room has far fewer.
        static let maximumRelaysOfRoom = 64

        /// - Returns: The room whose owner changed, if any.
        mutating func apply(_ change: DirectoryChange) -> String? {
            switch change {
            case .put(let entry): put(entry)
            case .deleted(let path): delete(path)
            }
        }

        private mutating func put(_ entry: DirectoryEntry) -> String? {
            switch DirectoryKey(path: entry.path) {
            case .node(let id):
                guard nodes[id] != nil || nodes.count < Self.maximumNodes else { return nil }
                nodes[id] = DirectoryValue.decode(NodeRecord.self, from: entry.value)
            case .owner(let room):
                guard owners[room] != nil || owners.count < Self.maximumRooms else { return nil }
                owners[room] = DirectoryValue.decode(RoomOwner.self, from: entry.value).map {
                    Ownership(owner: $0, epoch: entry.createRevision)
                }
                return room
            case .secret: secret = entry.value
            case .relay(let id, let room):
                guard relays[room] != nil || relays.count < Self.maximumRooms,
                    relays[room, default: []].count < Self.maximumRelaysOfRoom
                else { return nil }
                relays[room, default: []].insert(id)
            case .settings, nil: break
            }
            return nil
        }

        private mutating func delete(_ path: String) -> String? {
            switch DirectoryKey(path: path) {
            case .node(let id): nodes[id] = nil
            case .owner(let room):
                owners[room] = nil
                return room
            case .secret: secret = nil
            case .relay(let id, let room):
                relays[room]?.remove(id)
                if relays[room]?.isEmpty ?? false { relays[room] = nil }
            case .settings, nil: break
            }
            return nil
        }
    }

    private enum State {
        /// Nothing is under way.
        case idle
        case reading(Contents, from: String, revision: Int64?)
        /// A watch was asked for, and has begun or not yet.
        case watching(DirectoryRequestID, hasBegun: Bool)
    }

    private(set) var contents = Contents()
    /// The last revision that `contents` has; nil: the directory has not been read, or changes were missed.
    private(set) var revision: Int64?
    private var state = State.idle
    private var nextStep = MonotonicInstant.zero
    private var isAsked = false

    private static let retryInterval = Duration.milliseconds(500)
    /// The time in which a watch begins. A connection may take the request and never answer it.
    private static let beginPatience = Duration.seconds(5)

    /// True if `contents` follows the directory.
    var isLive: Bool {
        if case .watching(_, hasBegun: true) = state { return true }
        return false
    }

    /// True if everything up to a revision is known here.
    func hasSeen(_ revision: Int64) -> Bool { (self.revision ?? 0) >= revision }

    /// The request to send now, if any.
    mutating func step(id: DirectoryRequestID, now: MonotonicInstant) -> DirectoryRequest? {
        guard !isAsked, now >= nextStep else { return nil }
        switch state {
        case .watching(_, hasBegun: true): return nil
        case .idle, .watching:
            if let revision {
                state = .watching(id, hasBegun: false)
                nextStep = now + Self.beginPatience
                return .watch(from: min(revision, .max - 1) + 1)
            }
            state = .reading(Contents(), from: DirectoryKey.root, revision: nil)
            isAsked = true
            return .read(from: DirectoryKey.root, revision: nil)
        case .reading(_, let from, let revision):
            isAsked = true
            return .read(from: from, revision: revision)
        }
    }

    var nextWakeUp: MonotonicInstant {
        if isAsked { return .distantFuture }
        if case .watching(_, hasBegun: true) = state { return .distantFuture }
        return nextStep
    }

    /// The connection to the directory is in doubt: the watch is made anew from where it was.
    mutating func restartWatch(now: MonotonicInstant) {
        guard case .watching = state else { return }
        state = .idle
        nextStep = now
    }

    /// The entries that were read are out of date, and so is a page that is on its way.
    mutating func readAnew(now: MonotonicInstant) {
        revision = nil
        state = .idle
        nextStep = now
    }

    /// Takes a page.
    ///
    /// - Returns: Whether `contents` was read anew.
    mutating func receive(_ response: DirectoryResponse, now: MonotonicInstant) -> Bool {
        isAsked = false
        guard case .reading(var read, _, let first) = state,
            case .page(let entries, let revision, let hasMore) = response
        else {
            state = .idle
            nextStep = now + Self.retryInterval
            return false
        }
        for entry in entries { _ = read.apply(.put(entry)) }
        let start = first ?? revision
        if hasMore, let last = entries.last {
            // The smallest key that is greater.
            state = .reading(read, from: last.path + "\0", revision: start)
            return false
        }
        contents = read
        self.revision = start
        state = .idle
        return true
    }

    /// Takes what a watch tells.
    ///
    /// - Returns: The rooms whose owners changed; nil: the watch has ended.
    mutating func receive(_ news: DirectoryNews, of watch: DirectoryRequestID, now: MonotonicInstant) -> Set<String>? {
        guard case .watching(watch, _) = state else { return [] }
        switch news {
        case .began:
            state = .watching(watch, hasBegun: true)
            return []
        case .changes(let changes, let revision):
            // A watch that is made anew may repeat changes; applied again they change nothing.
            self.revision = max(self.revision ?? 0, revision)
            return Set(changes.compactMap { contents.apply($0) })
        case .ended(let isIncomplete):
            if isIncomplete { revision = nil }
            state = .idle
            nextStep = now + Self.retryInterval
            return nil
        }
    }
}
