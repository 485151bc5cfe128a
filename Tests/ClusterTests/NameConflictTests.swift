import MediaCore
import Testing

@testable import Cluster

@Suite("A relay whose name is in use")
struct NameConflictTests {
    private let a: NodeID
    private let other: NodeID

    init() throws {
        a = try #require(NodeID(rawValue: "a"))
        other = try #require(NodeID(rawValue: "b"))
    }

    @Test("waits for the end of the last process of its name, and says only that")
    func lastProcess() throws {
        let twin = ClusterWorld(nodes: ["a"], seed: 6)
        twin.losesAnswers = false
        twin.run(for: .seconds(2))
        twin.restart(a)
        twin.run(for: .seconds(1))
        #expect(twin.relays[a]?.notices.contains(.nameInUse(a)) == true)
        #expect(twin.relays[a]?.directory.waitsForName == true)
        twin.run(for: .seconds(8))
        #expect(twin.relays[a]?.directory.isReachable(now: twin.localNow(a)) == true)
        #expect(twin.relays[a]?.notices.contains(.nameTaken(a)) == false)
        #expect(twin.relays[a]?.directory.waitsForName == false)
    }

    /// A relay whose name is another process's for good.
    private func makeNamesake() -> ClusterWorld {
        let twin = ClusterWorld(nodes: ["a"], seed: 6)
        let record = NodeRecord(url: "http://x", region: "here", version: "test", instance: "other")
        let put = DirectoryTransaction.Change.put(.node(a), DirectoryValue.encode(record), nil)
        _ = twin.twin.perform(
            .commit(DirectoryTransaction(conditions: [], changes: [put], reads: [])),
            id: DirectoryRequestID(rawValue: 0), of: other, now: twin.now)
        return twin
    }

    @Test("does not say so for a time in which the directory was away")
    func namesAfterOutage() throws {
        let twin = makeNamesake()
        twin.losesAnswers = false
        twin.run(for: .seconds(3))
        #expect(twin.relays[a]?.notices.contains(.nameInUse(a)) == true)
        twin.setPartitioned(true, a)
        twin.run(for: .seconds(30))
        twin.setPartitioned(false, a)
        twin.run(for: .seconds(9))
        #expect(twin.relays[a]?.notices.contains(.nameTaken(a)) == false)
        twin.run(for: .seconds(9))
        #expect(twin.relays[a]?.notices.contains(.nameTaken(a)) == true)
    }

    @Test("says that its name is another's when that lasts")
    func names() throws {
        let twin = makeNamesake()
        twin.run(for: .seconds(9))
        let before = try #require(twin.relays[a]?.notices)
        #expect(before.contains(.nameInUse(a)) && !before.contains(.nameTaken(a)))
        twin.run(for: .seconds(60))
        #expect(twin.relays[a]?.notices.count { $0 == .nameTaken(a) } == 1)
        #expect(twin.relays[a]?.directory.isReachable(now: twin.localNow(a)) == false)
    }
}
