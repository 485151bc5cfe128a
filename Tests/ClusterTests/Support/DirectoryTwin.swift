import MediaCore

@testable import Cluster

/// The directory's engine in memory: what etcd does, on virtual time.
final class DirectoryTwin {
    struct Stored {
        var value: [UInt8]
        var createRevision: Int64
        var lease: Int64?
    }

    struct Watch {
        var id: DirectoryRequestID
        /// The next revision that it has not told.
        var next: Int64
        var hasBegun = false
    }

    private(set) var revision: Int64 = 1
    private(set) var keys: [String: Stored] = [:]
    private var leases: [Int64: (end: MonotonicInstant, timeToLive: Duration)] = [:]
    private var nextLease: Int64 = 1
    fileprivate var history: [(revision: Int64, changes: [DirectoryChange])] = []
    /// Changes before this one are forgotten.
    private(set) var firstKnown: Int64 = 1
    fileprivate var watches: [NodeID: Watch] = [:]
    /// Writes of a room's settings by a relay that did not lead it at that moment.
    private(set) var strayWrites: [(room: String, node: NodeID)] = []
    private(set) var settingsWriteCount = 0
    /// Writes about rooms that had no condition on the owner.
    private(set) var unguardedWrites: [DirectoryTransaction] = []
    var pageSize = 3

    func perform(_ request: DirectoryRequest, id: DirectoryRequestID, of node: NodeID, now: MonotonicInstant)
        -> DirectoryResponse?
    {
        expireLeases(now: now)
        switch request {
        case .grantLease(let timeToLive):
            nextLease += 1
            leases[nextLease] = (now + timeToLive, timeToLive)
            return .lease(LeaseID(rawValue: nextLease), timeToLive: timeToLive)
        case .renewLease(let lease):
            guard let held = leases[lease.rawValue] else { return .leaseEnded }
            leases[lease.rawValue] = (now + held.timeToLive, held.timeToLive)
            return .lease(lease, timeToLive: held.timeToLive)
        case .endLease(let lease):
            end([lease.rawValue])
            return .leaseEnded
        case .read(let from, let pinned):
            guard pinned ?? 0 <= revision else { return .failed(reason: "the revision is a future one") }
            let sorted = keys.keys.filter { $0 >= from && $0.hasPrefix(DirectoryKey.root) }.sorted()
            return .page(
                sorted.prefix(pageSize).compactMap(entry), revision: revision, hasMore: sorted.count > pageSize)
        case .watch(let from):
            watches[node] = Watch(id: id, next: from)
            return nil
        case .commit(let transaction): return commit(transaction, of: node)
        }
    }

    private func entry(_ path: String) -> DirectoryEntry? {
        keys[path].map { DirectoryEntry(path: path, value: $0.value, createRevision: $0.createRevision) }
    }

    private func commit(_ transaction: DirectoryTransaction, of node: NodeID) -> DirectoryResponse {
        let read = transaction.reads.compactMap { entry($0.path) }
        let holds = transaction.conditions.allSatisfy { (keys[$0.key.path]?.createRevision ?? 0) == $0.createRevision }
        guard holds else { return .conflict(read: read) }
        let leasesHold = transaction.changes.allSatisfy { change in
            if case .put(_, _, let lease?) = change { return leases[lease.rawValue] != nil }
            return true
        }
        guard leasesHold else { return .failed(reason: "requested lease not found") }
        check(transaction)
        revision += 1
        var changes: [DirectoryChange] = []
        for change in transaction.changes {
            switch change {
            case .put(let key, let value, let lease):
                if case .settings(let room) = key {
                    settingsWriteCount += 1
                    if owner(of: room)?.node != node { strayWrites.append((room, node)) }
                }
                keys[key.path] = Stored(
                    value: value, createRevision: keys[key.path]?.createRevision ?? revision, lease: lease?.rawValue)
                if let entry = entry(key.path) { changes.append(.put(entry)) }
            case .delete(let key):
                if keys.removeValue(forKey: key.path) != nil { changes.append(.deleted(path: key.path)) }
            }
        }
        // A transaction that changes nothing makes no revision.
        if changes.isEmpty { revision -= 1 } else { history.append((revision, changes)) }
        return .committed(revision: revision, read: read)
    }

    /// A write of another user of the same engine, of which no watch of relays tells.
    func writeElsewhere() { revision += 1 }

    /// The relay that leads a room, and its epoch.
    func owner(of room: String) -> (node: NodeID, epoch: Int64)? {
        guard let stored = keys[DirectoryKey.owner(room: room).path],
            let owner = DirectoryValue.decode(RoomOwner.self, from: stored.value)
        else { return nil }
        return (owner.node, stored.createRevision)
    }

    private func check(_ transaction: DirectoryTransaction) {
        for change in transaction.changes {
            let key: DirectoryKey
            switch change {
            case .put(let put, _, _): key = put
            case .delete(let deleted): key = deleted
            }
            let room: String
            switch key {
            case .owner(let name), .settings(let name): room = name
            case .relay(_, let name):
                // A relay may always take back its own listing.
                if case .delete = change { continue }
                room = name
            case .node, .secret: continue
            }
            let isGuarded = transaction.conditions.contains { $0.key == .owner(room: room) }
            if !isGuarded { unguardedWrites.append(transaction) }
        }
    }

    func expireLeases(now: MonotonicInstant) {
        end(leases.filter { $0.value.end <= now }.map(\.key).sorted())
    }

    /// Ends leases before their time, as an operator can.
    func end(_ ended: [Int64]) {
        for lease in ended {
            guard leases.removeValue(forKey: lease) != nil else { continue }
            let gone = keys.filter { $0.value.lease == lease }.keys.sorted()
            guard !gone.isEmpty else { continue }
            revision += 1
            for path in gone { keys[path] = nil }
            history.append((revision, gone.map { .deleted(path: $0) }))
        }
    }

    var leaseIDs: [Int64] { leases.keys.sorted() }

    /// Forgets all changes up to now.
    func compact() {
        history.removeAll()
        firstKnown = revision + 1
    }

    /// Begins anew with nothing, as an etcd whose data is lost.
    func loseEverything() {
        keys = [:]
        leases = [:]
        history = []
        watches = [:]
        revision = 1
        firstKnown = 1
    }

    /// Drops the watch of a relay, as a broken connection does.
    func breakWatch(of node: NodeID) { watches[node] = nil }

    func hasWatch(_ id: DirectoryRequestID, of node: NodeID) -> Bool { watches[node]?.id == id }

    /// The next message of a relay's watch.
    func news(of node: NodeID) -> (DirectoryRequestID, DirectoryNews)? {
        guard let watch = watches[node] else { return nil }
        if watch.next < firstKnown, watch.next <= revision {
            watches[node] = nil
            return (watch.id, .ended(isIncomplete: true))
        }
        if !watch.hasBegun {
            watches[node]?.hasBegun = true
            return (watch.id, .began)
        }
        guard let next = history.first(where: { $0.revision >= watch.next }) else { return nil }
        watches[node]?.next = next.revision + 1
        return (watch.id, .changes(next.changes, revision: next.revision))
    }
}

extension DirectoryTwin {
    /// True if `news(of:)` has something to tell.
    func news(peekingFor node: NodeID) -> Bool {
        guard let watch = watches[node] else { return false }
        return !watch.hasBegun || (watch.next < firstKnown && watch.next <= revision)
            || (history.last.map { $0.revision >= watch.next } ?? false)
    }
}
