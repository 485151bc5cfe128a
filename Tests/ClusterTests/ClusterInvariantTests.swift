import MediaCore
import Testing

@testable import Cluster

/// Relays on virtual time, with faults at random, seed by seed.
@Suite("A cluster in which everything fails now and then")
struct ClusterInvariantTests {
    private static let rooms = ["demo", "lecture", "office"]

    /// Does one thing at random.
    private func disturb(_ world: ClusterWorld, endsLeases: Bool) {
        guard let node = world.pick(world.nodes), let room = world.pick(Self.rooms) else { return }
        switch world.number(0...19) {
        case 0: world.setPartitioned(true, node)
        case 1, 2: world.setPartitioned(false, node)
        case 3: for other in world.nodes { world.setPartitioned(true, other) }
        case 4, 5: for other in world.nodes { world.setPartitioned(false, other) }
        case 6: world.jumpClock(node, by: .milliseconds(world.number(1...20_000)))
        case 7: world.setStopped(true, node)
        case 8, 9: for other in world.nodes { world.setStopped(false, other) }
        case 10: world.restart(node)
        case 11: world.twin.compact()
        case 12: world.twin.breakWatch(of: node)
        case 13:
            guard endsLeases else { return }
            if world.number(0...2) == 0 {
                world.twin.loseEverything()
            } else if let lease = world.pick(world.twin.leaseIDs) {
                world.twin.end([lease])
            }
        case 14: world.leave(room, at: node)
        case 15: world.update(node) { $0.setDraining(true, now: $1) }
        case 16: world.update(node) { $0.setDraining(false, now: $1) }
        case 17:
            let settings = Array("\(node) \(world.number(0...999))".utf8)
            world.update(node) { $0.setSettings(settings, of: room, now: $1) }
        default: world.join(room, at: node)
        }
    }

    private func heal(_ world: ClusterWorld) {
        world.losesAnswers = false
        for node in world.nodes {
            world.setPartitioned(false, node)
            world.setStopped(false, node)
            world.update(node) { $0.setDraining(false, now: $1) }
        }
    }

    @Test(
        "agrees on one relay for each room once the faults are over, and each write was fenced",
        arguments: 0..<50)
    func invariants(batch: Int) throws {
        for seed in 0..<20 { try check(seed: UInt64(batch * 20 + seed)) }
    }

    private func check(seed: UInt64) throws {
        // Ended leases and lost data break their promise; without them it must hold at each moment.
        let endsLeases = !seed.isMultiple(of: 2)
        let world = ClusterWorld(nodes: ["a", "b", "c"], regions: ["north", "south"], seed: seed)
        var rivals = 0
        world.inspect = { world in
            guard !endsLeases else { return }
            for room in Self.rooms {
                let leaders = world.nodes.count { node in
                    if case .leading = world.standing(node, room) { return true }
                    return false
                }
                if leaders > 1 { rivals += 1 }
            }
        }
        world.run(for: .seconds(2))
        for _ in 0..<40 {
            disturb(world, endsLeases: endsLeases)
            world.run(for: .milliseconds(world.number(10...1200)))
        }
        heal(world)
        world.run(for: .seconds(25))
        #expect(rivals == 0, "seed \(seed): two relays led a room at a time")
        #expect(world.twin.unguardedWrites.isEmpty, "seed \(seed): \(world.twin.unguardedWrites)")
        #expect(world.twin.strayWrites.isEmpty, "seed \(seed): \(world.twin.strayWrites)")
        for room in Self.rooms { try checkAgreement(world, room, seed: seed) }
        for node in world.nodes {
            let directory = try #require(world.relays[node]?.directory)
            #expect(directory.promisedSeats(now: world.localNow(node)) == 0, "seed \(seed)")
            #expect(directory.isReachable(now: world.localNow(node)), "seed \(seed): \(node)")
            #expect(directory.nodes.keys.sorted() == world.nodes, "seed \(seed): \(node) knows \(directory.nodes.keys)")
        }
    }

    private func checkAgreement(_ world: ClusterWorld, _ room: String, seed: UInt64) throws {
        let holders = world.nodes.filter { (world.relays[$0]?.members[room] ?? 0) > 0 }
        let listed = world.nodes.filter { world.twin.keys[DirectoryKey.relay($0, room: room).path] != nil }
        #expect(listed == holders, "seed \(seed): the relays of \(room)")
        guard !holders.isEmpty else {
            #expect(world.twin.owner(of: room) == nil, "seed \(seed): nobody is in \(room)")
            return
        }
        let owner = try #require(world.twin.owner(of: room), "seed \(seed): \(room) has no owner")
        #expect(holders.contains(owner.node), "seed \(seed): \(owner) has nobody in \(room)")
        for node in holders {
            let expected: RoomStanding =
                node == owner.node ? .leading(epoch: owner.epoch) : .following(owner.node, epoch: owner.epoch)
            #expect(world.standing(node, room) == expected, "seed \(seed): \(node) in \(room)")
        }
        for node in world.nodes {
            #expect(
                world.relays[node]?.directory.owner(of: room)?.epoch == owner.epoch, "seed \(seed): \(node), \(room)")
        }
    }
}
