import Cluster
import Logging
import NIOPosix
import Synchronization
import Testing

@testable import RelayServer

@Suite("A relay's part in its cluster")
struct ClusterServiceTests {
    /// A directory without keys, which takes whatever it is told.
    private final class Directory: DirectoryEngine {
        /// For each lease that was given back, whether the task was cancelled that did so.
        private let endings = Mutex<[Bool]>([])

        var endedLeases: [Bool] { endings.withLock { $0 } }

        func perform(_ request: DirectoryRequest) async -> DirectoryResponse {
            switch request {
            case .grantLease(let timeToLive): return .lease(LeaseID(rawValue: 7), timeToLive: timeToLive)
            case .renewLease(let lease): return .lease(lease, timeToLive: .seconds(5))
            case .endLease:
                let isCancelled = Task.isCancelled
                endings.withLock { $0.append(isCancelled) }
                return .leaseEnded
            case .read: return .page([], revision: 1, hasMore: false)
            case .commit: return .committed(revision: 2, read: [])
            case .watch: return .failed(reason: "a watch is no single request")
            }
        }

        func watch(from revision: Int64, tell: @Sendable (DirectoryNews) async -> Void) async {
            await tell(.began)
            try? await Task.sleep(for: .seconds(3600))
            await tell(.ended(isIncomplete: false))
        }

        func close() async {}
    }

    @Test("gives its lease back although the stop that ends it takes too long and is cancelled")
    func cancelledStop() async throws {
        let driver = RelayDriver(eventLoop: MultiThreadedEventLoopGroup.singleton.next(), workerCount: 1) {
            TwinRelay(TwinRelay.Script())
        }
        let directory = Directory()
        let node = try #require(NodeID("a"))
        let service = ClusterService(
            ClusterSettings(etcd: EtcdSettings(endpoints: []), node: node), url: "http://127.0.0.1:7000",
            engine: directory, driver: driver, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        await service.waitUntilReachable(upTo: .seconds(60))
        let stop = Task {
            // Until it is cancelled.
            try? await Task.sleep(for: .seconds(3600))
            await service.close()
        }
        stop.cancel()
        await stop.value
        #expect(directory.endedLeases == [false])
        await driver.close()
    }
}
