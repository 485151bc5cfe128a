import MediaCore
import Testing

@testable import Cluster

@Suite("The choice of a relay")
struct PlacementTests {
    private static func node(_ name: String) throws -> NodeID { try #require(NodeID(rawValue: name)) }

    @Test("takes the better of two, and so never the worst of three")
    func better() throws {
        let candidates = [
            Placement.Candidate(node: try Self.node("a"), region: "here", seats: 1),
            Placement.Candidate(node: try Self.node("b"), region: "here", seats: 5),
            Placement.Candidate(node: try Self.node("c"), region: "here", seats: 9),
        ]
        var random = SeededGenerator(seed: 1)
        var counts: [String: Int] = [:]
        for _ in 0..<300 {
            let chosen = Placement.choose(candidates, region: "here", using: &random)
            counts[chosen?.rawValue ?? "none", default: 0] += 1
        }
        #expect(counts["a"] == nil)
        // Two of the three pairs have c in them.
        #expect((150...250).contains(counts["c"] ?? 0), "\(counts)")
    }

    @Test("stays in its region while that has a seat, and goes elsewhere otherwise")
    func region() throws {
        let near = Placement.Candidate(node: try Self.node("near"), region: "here", seats: 1)
        let far = Placement.Candidate(node: try Self.node("far"), region: "there", seats: 100)
        var random = SeededGenerator(seed: 2)
        #expect(Placement.choose([near, far], region: "here", using: &random) == near.node)
        var full = near
        full.seats = 0
        #expect(Placement.choose([full, far], region: "here", using: &random) == far.node)
        #expect(Placement.choose([full], region: "here", using: &random) == nil)
    }

    @Test("counts a promised seat for 20 seconds")
    func promises() throws {
        let node = try Self.node("a")
        var promises = SeatPromises()
        let start = MonotonicInstant.zero
        promises.add(node, now: start)
        promises.add(node, now: start + .seconds(10))
        #expect(promises.count(node, now: start + .seconds(19)) == 2)
        #expect(promises.count(node, now: start + .seconds(20)) == 1)
        #expect(promises.total(now: start + .seconds(30)) == 0)
    }

    @Test("a relay in a state that only later versions know takes no new rooms")
    func unknownState() throws {
        var record = NodeRecord(url: "http://a", region: "", version: "9", instance: "1")
        let written = String(decoding: DirectoryValue.encode(record), as: UTF8.self)
        let later = written.replacing("serving", with: "resting")
        record.state = .draining
        #expect(later != written)
        #expect(DirectoryValue.decode(NodeRecord.self, from: Array(later.utf8)) == record)
    }

    @Test("remembers a bounded number of promises")
    func bound() throws {
        let node = try Self.node("a")
        var promises = SeatPromises()
        for _ in 0..<5000 { promises.add(node, now: .zero) }
        #expect(promises.count(node, now: .zero) == SeatPromises.maximumCount)
    }
}
