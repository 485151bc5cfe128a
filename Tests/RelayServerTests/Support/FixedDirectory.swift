import Cluster
import Foundation
import Logging
import NIOPosix
import Synchronization
import Testing

@testable import RelayServer

/// A directory that takes whatever it is told, and keeps nothing of it.
final class FixedDirectory: DirectoryEngine {
    /// What tickets and requests of the cluster are signed with.
    static let secret = [UInt8](repeating: 7, count: ClusterSecret.size)

    private let entries: [DirectoryEntry]
    private let settings: [DirectoryEntry]
    private let isAway: Bool
    private let changes: AsyncStream<[DirectoryChange]>
    /// For each lease that was given back, whether the task was cancelled that did so.
    private let endings = Mutex<[Bool]>([])

    /// - Parameters:
    ///   - entries: The keys that there are.
    ///   - settings: The settings of rooms. A relay reads them when it claims one.
    ///   - changes: Changes of keys.
    init(
        _ entries: [DirectoryEntry] = [], settings: [DirectoryEntry] = [], isAway: Bool = false,
        changes: AsyncStream<[DirectoryChange]> = AsyncStream { _ in }
    ) {
        self.entries = entries
        self.settings = settings
        self.isAway = isAway
        self.changes = changes
    }

    /// A directory in which the relay `b` has people in a room.
    ///
    /// - Parameters:
    ///   - room: A room that it leads.
    ///   - url: Where it is.
    ///   - signsHeads: Nil: it is of the last version.
    ///   - changes: Nil: it has the people from the beginning.
    static func ofOther(
        owning room: String? = nil, at url: String = "http://b.example", signsHeads: Bool? = true,
        changes: AsyncStream<[DirectoryChange]>? = nil
    ) throws -> FixedDirectory {
        let other = try #require(NodeID(rawValue: "b"))
        let record = NodeRecord(url: url, region: "default", version: "1", instance: "1", signsHeads: signsHeads)
        let value = [UInt8](try JSONEncoder().encode(record))
        var entries = [
            DirectoryEntry(path: DirectoryKey.node(other).path, value: value, createRevision: 1),
            DirectoryEntry(path: DirectoryKey.secret.path, value: secret, createRevision: 1),
        ]
        if let room {
            let owner = Data(#"{"node":"b","instance":"1","lease":7}"#.utf8)
            entries.append(
                DirectoryEntry(path: DirectoryKey.owner(room: room).path, value: [UInt8](owner), createRevision: 1))
        }
        guard let changes else { return FixedDirectory(entries + [try listing()]) }
        return FixedDirectory(entries, changes: changes)
    }

    /// The key of another relay that has people in a room.
    static func listing() throws -> DirectoryEntry {
        let other = try #require(NodeID(rawValue: "b"))
        return DirectoryEntry(path: DirectoryKey.relay(other, room: "demo").path, value: [], createRevision: 1)
    }

    var endedLeases: [Bool] { endings.withLock { $0 } }

    func perform(_ request: DirectoryRequest) async -> DirectoryResponse {
        guard !isAway else { return .failed(reason: "nobody is there") }
        switch request {
        case .grantLease(let timeToLive): return .lease(LeaseID(rawValue: 7), timeToLive: timeToLive)
        case .renewLease(let lease): return .lease(lease, timeToLive: .seconds(5))
        case .endLease:
            let isCancelled = Task.isCancelled
            endings.withLock { $0.append(isCancelled) }
            return .leaseEnded
        case .read: return .page(entries, revision: 1, hasMore: false)
        case .commit: return .committed(revision: 2, read: settings)
        case .watch: return .failed(reason: "a watch is no single request")
        }
    }

    func watch(from revision: Int64, tell: @Sendable (DirectoryNews) async -> Void) async {
        await tell(.began)
        var revision: Int64 = 2
        for await change in changes {
            revision += 1
            await tell(.changes(change, revision: revision))
        }
        await tell(.ended(isIncomplete: false))
    }

    func close() async {}
}

extension ClusterService {
    /// Starts a relay's part in the cluster of a directory, and waits until that answers.
    static func start(
        _ directory: FixedDirectory, _ driver: RelayDriver, name: String = "a", advertising url: String? = nil,
        log: LogLines = LogLines(), patience: Duration = .seconds(60)
    ) async throws -> ClusterService {
        let service = ClusterService(
            ClusterSettings(
                etcd: EtcdSettings(endpoints: []), node: try #require(NodeID(rawValue: name)), advertisedURL: url),
            url: url ?? "http://127.0.0.1:7000", engine: directory, driver: driver,
            logger: Logger(label: "test") { _ in LogCollector(lines: log) })
        await service.waitUntilReachable(upTo: patience)
        return service
    }
}

extension SignallingClient {
    /// A driver of the client's twin of a relay.
    func makeDriver() -> RelayDriver {
        RelayDriver(eventLoop: MultiThreadedEventLoopGroup.singleton.next(), workerCount: 1) { [script] in
            TwinRelay(script)
        }
    }
}
