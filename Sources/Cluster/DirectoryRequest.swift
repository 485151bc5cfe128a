import MediaCore

/// Names a lease of the directory. The keys that are written with it vanish with it.
public struct LeaseID: Hashable, Sendable {
    public let rawValue: Int64

    public init(rawValue: Int64) { self.rawValue = rawValue }
}

/// Matches an answer with its request.
public struct DirectoryRequestID: Hashable, Sendable {
    let rawValue: UInt64
}

/// A request to the engine of the directory: an etcd, or its twin in tests.
public enum DirectoryRequest: Hashable, Sendable {
    case grantLease(timeToLive: Duration)
    case renewLease(LeaseID)
    /// Deletes the lease and its keys.
    case endLease(LeaseID)
    /// A page of all keys under the root that are not smaller than `from`, as they were at `revision`; nil: now.
    case read(from: String, revision: Int64?)
    /// All or nothing.
    case commit(DirectoryTransaction)
    /// The changes of all keys under the root since a revision, this one included, until the next such request. Its
    /// answers are `DirectoryNews`.
    case watch(from: Int64)
}

/// Changes that are made only if all conditions hold.
public struct DirectoryTransaction: Hashable, Sendable {
    /// A key was created at this revision; 0: there is no such key.
    public struct Condition: Hashable, Sendable {
        public var key: DirectoryKey
        public var createRevision: Int64
    }

    public enum Change: Hashable, Sendable {
        case put(DirectoryKey, [UInt8], LeaseID?)
        case delete(DirectoryKey)
    }

    public var conditions: [Condition]
    public var changes: [Change]
    /// The keys that the same step reads before the changes, whether the conditions hold or not.
    public var reads: [DirectoryKey]
}

/// A key with its value.
public struct DirectoryEntry: Hashable, Sendable {
    public var path: String
    public var value: [UInt8]
    /// The revision at which the key was created after it was last absent.
    public var createRevision: Int64

    public init(path: String, value: [UInt8], createRevision: Int64) {
        self.path = path
        self.value = value
        self.createRevision = createRevision
    }
}

/// The engine's answer.
public enum DirectoryResponse: Hashable, Sendable {
    /// A lease was granted or renewed.
    case lease(LeaseID, timeToLive: Duration)
    /// There is no such lease any more.
    case leaseEnded
    /// Keys in their order; if `hasMore`, the next page is asked for from behind the last.
    case page([DirectoryEntry], revision: Int64, hasMore: Bool)
    /// The revision that the transaction made.
    case committed(revision: Int64, read: [DirectoryEntry])
    /// A condition does not hold.
    case conflict(read: [DirectoryEntry])
    /// It is not known whether the request was performed.
    case failed(reason: String)
}

/// A change of a key.
public enum DirectoryChange: Hashable, Sendable {
    case put(DirectoryEntry)
    case deleted(path: String)
}

/// A message of a watch.
public enum DirectoryNews: Hashable, Sendable {
    /// The engine follows the changes from now on.
    case began
    /// Changes in their order, the last of which made this revision.
    case changes([DirectoryChange], revision: Int64)
    /// The watch has ended: the connection was lost, or the changes that it would have to tell are forgotten.
    case ended(isIncomplete: Bool)
}
