import MediaCore
import Testing

@testable import Cluster

@Suite("A room that is full at a relay")
struct FurtherRelayTests {
    /// Opens a room at the first of some relays, and has people join it one after the other at any relay.
    private func world(relays: Int, limit: Int, joins: Int) throws -> ClusterWorld {
        let names = (0..<relays).map { "relay\($0)" }
        let world = ClusterWorld(nodes: names, seed: 11)
        world.losesAnswers = false
        world.roomLimit = limit
        world.run(for: .seconds(2))
        let first = try #require(NodeID(rawValue: names[0]))
        world.join("demo", at: first, hops: 1)
        world.run(for: .seconds(1))
        for index in 1..<joins {
            world.join("demo", at: try #require(NodeID(rawValue: names[index % relays])))
            world.run(for: .seconds(1))
        }
        return world
    }

    private func members(_ world: ClusterWorld) -> [Int] {
        world.nodes.map { world.relays[$0]?.members["demo"] ?? 0 }
    }

    @Test("goes on to further relays until each is full")
    func filling() throws {
        let world = try world(relays: 4, limit: 2, joins: 8)
        #expect(members(world) == [2, 2, 2, 2])
        #expect(world.refusedJoins == 0)
        world.join("demo", at: world.nodes[3])
        world.run(for: .seconds(3))
        #expect(world.refusedJoins == 1)
    }

    @Test("is on one relay while that has seats")
    func one() throws {
        #expect(members(try world(relays: 4, limit: 100, joins: 8)) == [8, 0, 0, 0])
    }

    @Test("is led by a relay with people as soon as the last one leaves its own, and joins go there")
    func leaving() throws {
        let world = try world(relays: 2, limit: 2, joins: 3)
        #expect(members(world) == [2, 1])
        for _ in 0..<2 { world.leave("demo", at: world.nodes[0]) }
        world.join("demo", at: world.nodes[0])
        world.run(for: .seconds(1))
        #expect(members(world) == [0, 2])
        #expect(world.standing(world.nodes[0], "demo") == nil)
        let owner = try #require(world.twin.owner(of: "demo"))
        #expect(world.standing(world.nodes[1], "demo") == .leading(epoch: owner.epoch))
    }

    @Test("is on at most eight relays")
    func mesh() throws {
        let world = try world(relays: 10, limit: 1, joins: 10)
        #expect(members(world).count { $0 == 1 } == ClusterDirectory.maximumRelaysOfRoom)
        #expect(world.refusedJoins == 2)
    }

    @Test("sends nobody to a relay that was found not to answer, until another process has its name")
    func missing() throws {
        let world = try world(relays: 2, limit: 1, joins: 1)
        let (first, second) = (world.nodes[0], world.nodes[1])
        func decision() -> PlacementDecision {
            var decision = PlacementDecision.here
            world.update(first) { decision = $0.place("demo", isFull: true, now: $1) }
            return decision
        }
        #expect(decision() == .further(second, url: "http://\(second)"))
        world.update(first) { $0.relayIsMissing(second, now: $1) }
        #expect(decision() == .here)
        world.restart(second)
        world.run(for: .seconds(7))
        #expect(decision() == .further(second, url: "http://\(second)"))
    }

    @Test("stays where its door may keep somebody out")
    func restrictiveDoor() throws {
        let world = try world(relays: 2, limit: 1, joins: 1)
        world.update(world.nodes[0]) { directory, now in
            #expect(directory.place("demo", isFull: true, mayExtend: false, now: now) == .here)
            #expect(directory.place("demo", isFull: true, mayExtend: true, now: now) != .here)
        }
    }

    @Test("a client has two relays to try next, of which those that drain come last")
    func alternates() throws {
        let world = ClusterWorld(nodes: ["a", "b", "c"], seed: 11)
        world.losesAnswers = false
        world.run(for: .seconds(2))
        let (a, b) = (world.nodes[0], world.nodes[1])
        world.update(b) { $0.setDraining(true, now: $1) }
        world.run(for: .seconds(2))
        var urls: [String] = []
        world.update(a) { urls = $0.alternates(to: a, now: $1) }
        #expect(urls == ["http://c", "http://b"])
        world.kill(world.nodes[2])
        world.run(for: ClusterDirectory.leaseDuration + .seconds(2))
        world.update(a) { urls = $0.alternates(to: a, now: $1) }
        #expect(urls == ["http://b"])
    }
}
