import MediaCore
import Testing

@testable import Cluster

@Suite("A relay whose directory answers late")
struct LateAnswerTests {
    private let desk: Desk
    private let a: NodeID
    private let b: NodeID

    init() throws {
        a = try #require(NodeID(rawValue: "a"))
        b = try #require(NodeID(rawValue: "b"))
        desk = Desk(node: a)
        desk.pass(.zero)
        // Its revisions are well above those of a new directory.
        for seats in 0..<20 {
            desk.directory.update({ $0.seatsLeft = seats }, now: desk.now)
            desk.pass(.seconds(1))
        }
    }

    private func isClaim(_ request: DirectoryRequest) -> Bool {
        guard case .commit(let transaction) = request else { return false }
        return transaction.reads.contains(.owner(room: "demo"))
    }

    @Test("leads no room by a claim that was made with an earlier lease")
    func earlierLease() throws {
        desk.alter = { isClaim($0) ? nil : $1 }
        desk.directory.roomOpened("demo", now: desk.now)
        desk.settle()
        desk.twin.loseEverything()
        desk.pass(ClusterDirectory.renewalInterval)
        desk.alter = { $1 }
        let (id, response) = try #require(desk.held.first)
        desk.directory.receive(response, to: id, now: desk.now)
        #expect(desk.directory.standing(of: "demo", now: desk.now) == .unplaced)
        desk.settle()
        let owner = try #require(desk.twin.owner(of: "demo"))
        #expect(desk.directory.standing(of: "demo", now: desk.now) == .leading(epoch: owner.epoch))
    }

    @Test("follows no relay whose key has ended before the answer to the claim came")
    func endedOwner() throws {
        _ = desk.directory.place("demo", hops: 1, now: desk.now)
        desk.alter = { isClaim($0) ? nil : $1 }
        // The other relay is faster, and gives the room back.
        let lease = try #require(desk.grantLease(to: b))
        let owner = RoomOwner(node: b, instance: "2", lease: lease.rawValue)
        desk.put(.owner(room: "demo"), DirectoryValue.encode(owner), lease, by: b)
        desk.settle()
        desk.twin.end([lease.rawValue])
        desk.settle()
        let (id, response) = try #require(desk.held.first)
        desk.directory.receive(response, to: id, now: desk.now)
        #expect(desk.directory.standing(of: "demo", now: desk.now) == .unplaced)
    }

    @Test("reads a directory anew that has lost its data while the relay had no lease")
    func replacement() throws {
        desk.twin.end(desk.twin.leaseIDs)
        desk.alter = { request, response in
            if case .grantLease = request { .failed(reason: "no space") } else { response }
        }
        for _ in 0..<3 { desk.pass(.seconds(1)) }
        desk.twin.loseEverything()
        desk.alter = { $1 }
        for _ in 0..<3 { desk.pass(.seconds(1)) }
        let lease = try #require(desk.grantLease(to: b))
        let record = NodeRecord(url: "http://b", region: "", version: "test", instance: "2")
        desk.put(.node(b), DirectoryValue.encode(record), lease, by: b)
        desk.settle()
        #expect(desk.directory.nodes.keys.sorted() == [a, b])
        #expect(desk.directory.isReachable(now: desk.now))
    }
}

/// A relay's part in a cluster, whose directory answers at once, or when a test wants.
private final class Desk {
    let twin = DirectoryTwin()
    let node: NodeID
    var directory: ClusterDirectory
    private(set) var now = MonotonicInstant.zero
    /// Changes the answer to a request; nil: it is held back.
    var alter: (DirectoryRequest, DirectoryResponse) -> DirectoryResponse? = { $1 }
    private(set) var held: [(DirectoryRequestID, DirectoryResponse)] = []

    init(node: NodeID) {
        self.node = node
        directory = ClusterDirectory(
            node: node, record: NodeRecord(url: "http://\(node)", region: "", version: "test", instance: "1"),
            random: SeededGenerator(seed: 1))
    }

    /// Performs what the relay asks for, and tells it what has changed.
    func settle() {
        while true {
            if let (id, request) = directory.pollRequest() {
                guard let response = twin.perform(request, id: id, of: node, now: now) else { continue }
                if let altered = alter(request, response) {
                    directory.receive(altered, to: id, now: now)
                } else {
                    held.append((id, response))
                }
            } else if let (id, news) = twin.news(of: node) {
                directory.receive(news, of: id, now: now)
            } else {
                return
            }
        }
    }

    func pass(_ duration: Duration) {
        now += duration
        directory.wake(now: now)
        settle()
    }

    // MARK: Other relays

    func grantLease(to other: NodeID) -> LeaseID? {
        guard case .lease(let lease, _) = ask(.grantLease(timeToLive: .seconds(5)), by: other) else { return nil }
        return lease
    }

    func put(_ key: DirectoryKey, _ value: [UInt8], _ lease: LeaseID, by other: NodeID) {
        ask(.commit(DirectoryTransaction(conditions: [], changes: [.put(key, value, lease)], reads: [])), by: other)
    }

    @discardableResult
    private func ask(_ request: DirectoryRequest, by other: NodeID) -> DirectoryResponse? {
        twin.perform(request, id: DirectoryRequestID(rawValue: 0), of: other, now: now)
    }
}
