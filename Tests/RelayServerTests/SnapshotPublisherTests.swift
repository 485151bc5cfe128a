import HTTPTypes
import MediaCore
import NIOCore
import NIOPosix
import SecureTransport
import Synchronization
import Testing

@testable import Conference
@testable import RelayServer
@testable import RoomMedia

@Suite("Published snapshots")
struct SnapshotPublisherTests {
    private let client = SignallingClient()
    private var script: TwinRelay.Script { client.script }

    /// A driver whose clock stands still, so that only changes make a snapshot old.
    private func withDriver(_ body: (RelayDriver) async throws -> Void) async throws {
        let driver = RelayDriver(
            eventLoop: MultiThreadedEventLoopGroup.singleton.next(), workerCount: 1,
            now: { MonotonicInstant.zero + .seconds(100) }, makeRelay: { [script] in TwinRelay(script) })
        script.state.withLock {
            let ada = ParticipantSnapshot(id: "p1", name: "Ada", role: "watch")
            $0.snapshot.rooms = [RoomSnapshot(id: "demo", participants: [ada])]
            $0.timelines = [RoomTimelineSnapshot(room: "demo")]
        }
        do {
            try await body(driver)
        } catch {
            Issue.record(error)
        }
        await driver.close()
    }

    private func ask(_ driver: RelayDriver, _ paths: [String], times: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<times {
                let path = paths[index % paths.count]
                group.addTask { _ = try await client.respond(driver, .get, path) }
            }
            try await group.waitForAll()
        }
    }

    private let paths = [
        "/rooms", "/rooms/demo", "/rooms/demo/participants/p1", "/rooms/demo/overlays", "/metrics", "/readyz",
        "/rooms/demo/debug.json", "/rooms/demo/debug.svg", "/rooms/nowhere", "/rooms/nowhere/debug.json",
    ]

    @Test("a thousand requests cost the loop one snapshot, and one of the room's last minute")
    func manyRequests() async throws {
        try await withDriver { driver in
            try await ask(driver, paths, times: 1000)
            let (snapshots, timelines) = script.state.withLock { ($0.snapshotCount, $0.timelineCount) }
            #expect(snapshots == 1)
            #expect(timelines == 1)
        }
    }

    @Test("a client sees what it changed, and the next snapshot is shared again")
    func changes() async throws {
        try await withDriver { driver in
            try await ask(driver, ["/rooms"], times: 10)
            for change in 1...3 {
                script.state.withLock { $0.snapshot.rooms[0].participants[0].name = "Ada \(change)" }
                _ = await driver.leave(room: "demo", participant: "nobody")
                let report = try await driver.snapshots.report()
                let name = report.snapshot.room("demo")?.participants.first?.name
                #expect(name == "Ada \(change)")
                try await ask(driver, paths, times: 100)
                let count = script.state.withLock { $0.snapshotCount }
                #expect(count == 1 + change)
            }
        }
    }

    /// A clock that a test sets.
    private final class Clock: Sendable {
        private let time = Mutex(MonotonicInstant.zero + .seconds(100))

        func advance(by duration: Duration) { time.withLock { $0 = $0 + duration } }
        var now: MonotonicInstant { time.withLock { $0 } }
    }

    @Test("a snapshot is published for its time and no longer")
    func age() async throws {
        let clock = Clock()
        let made = Mutex(0)
        let publisher = SnapshotPublisher<String, Int>(
            eventLoop: MultiThreadedEventLoopGroup.singleton.next(), interval: .milliseconds(100),
            spacing: .milliseconds(1), now: { clock.now })
        publisher.setMake { _ in
            made.withLock {
                $0 += 1
                return $0
            }
        }
        #expect(await publisher.snapshot("a")?.snapshot == 1)
        clock.advance(by: .milliseconds(99))
        #expect(await publisher.snapshot("a")?.snapshot == 1)
        clock.advance(by: .milliseconds(1))
        #expect(await publisher.snapshot("a")?.snapshot == 2)
        #expect(await publisher.snapshot("b")?.snapshot == 3)
    }

    @Test("a missing key gives no value, and is not kept")
    func missing() async {
        let publisher = SnapshotPublisher<String, Int>(
            eventLoop: MultiThreadedEventLoopGroup.singleton.next(), interval: .seconds(1), spacing: .zero,
            now: { MonotonicInstant.now() })
        publisher.setMake { _ in nil }
        #expect(await publisher.snapshot("a") == nil)
    }

    @Test("a document is encoded once")
    func documents() throws {
        let documents = SnapshotDocuments(1)
        var encodes = 0
        for _ in 0..<10 {
            let text = documents.document("a") { value in
                encodes += 1
                return ByteBuffer(string: "\(value)")
            }
            #expect(String(buffer: text) == "1")
        }
        #expect(encodes == 1)
    }
}
