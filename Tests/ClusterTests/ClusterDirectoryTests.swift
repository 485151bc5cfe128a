import MediaCore
import Testing

@testable import Cluster

@Suite("A relay in a cluster")
struct ClusterDirectoryTests {
    private let world: ClusterWorld
    private let a: NodeID
    private let b: NodeID

    init() throws {
        a = try #require(NodeID(rawValue: "a"))
        b = try #require(NodeID(rawValue: "b"))
        world = ClusterWorld(nodes: ["a", "b"], seed: 5)
        world.losesAnswers = false
        world.run(for: .seconds(2))
    }

    /// Opens the room at `a`, whatever relay placement would choose.
    private func open(_ room: String = "demo") {
        world.join(room, at: a, hops: 1)
        world.run(for: .seconds(1))
    }

    @Test("leads a room that it opens; others send joins there")
    func opening() throws {
        open()
        guard case .leading(let epoch) = world.standing(a, "demo") else { throw TestFailure() }
        #expect(world.twin.owner(of: "demo")?.epoch == epoch)
        world.join("demo", at: b)
        world.run(for: .seconds(1))
        #expect(world.relays[a]?.members["demo"] == 2)
        #expect(world.standing(b, "demo") == nil)
    }

    @Test("sends a join on that relays have sent on less than three times")
    func hops() {
        open()
        world.join("demo", at: b, hops: 2)
        world.run(for: .seconds(1))
        #expect(world.relays[a]?.members["demo"] == 2 && world.refusedJoins == 0)
        world.join("demo", at: b, hops: 3)
        world.run(for: .seconds(1))
        #expect(world.relays[a]?.members["demo"] == 2 && world.refusedJoins == 1)
    }

    @Test("sends requests about a room to its owner also if it was asked for the room at the same moment")
    func race() throws {
        world.join("demo", at: a, hops: 1)
        world.join("demo", at: b, hops: 1)
        world.run(for: .seconds(1))
        let owner = try #require(world.twin.owner(of: "demo")).node
        let other = owner == a ? b : a
        guard case .following(owner, _) = world.standing(other, "demo") else { throw TestFailure() }
        let answers: [(NodeID, String?)] = [(owner, nil), (other, "http://\(owner)")]
        for (relay, url) in answers {
            for isOfLobby in [true, false] {
                let answer = world.relays[relay]?.directory.otherOwner(
                    of: "demo", isOfLobby: isOfLobby, now: world.localNow(relay))
                #expect(answer == url)
            }
        }
    }

    @Test("gives a room back when everybody has left")
    func closing() {
        open()
        world.run(for: ClusterDirectory.expectation)
        world.leave("demo", at: a)
        world.run(for: .seconds(2))
        #expect(world.twin.owner(of: "demo") == nil)
        #expect(world.twin.keys.keys.filter { $0.contains("/rooms/") }.isEmpty)
    }

    @Test("leads a room no more as soon as the directory may have deleted its key")
    func abdication() {
        open()
        world.run(for: ClusterDirectory.expectation)
        // The answers tell of the key's end, and nothing else.
        world.twin.breakWatch(of: a)
        var claims = 0
        world.inspect = { [a] world in
            guard case .leading = world.standing(a, "demo"), world.twin.owner(of: "demo") == nil else { return }
            claims += 1
        }
        world.leave("demo", at: a)
        world.run(for: .seconds(3))
        #expect(world.twin.owner(of: "demo") == nil)
        #expect(claims == 0)
    }

    @Test("leaves the list of a room's relays also while its watch is made anew")
    func unlisting() {
        world.roomLimit = 1
        open()
        world.join("demo", at: b)
        world.run(for: ClusterDirectory.expectation + .seconds(1))
        let key = DirectoryKey.relay(b, room: "demo").path
        #expect(world.twin.keys[key] != nil)
        world.update(b) { $0.mirror.restartWatch(now: $1) }
        world.leave("demo", at: b)
        world.run(for: .seconds(2))
        #expect(world.twin.keys[key] == nil)
    }

    @Test("hands a room's settings to the relay that has it next")
    func settings() {
        open()
        world.update(a) { $0.setSettings([1, 2, 3], of: "demo", now: $1) }
        world.run(for: .seconds(1))
        world.kill(a)
        world.run(for: .seconds(7))
        world.join("demo", at: b)
        world.run(for: .seconds(1))
        #expect(world.relays[b]?.notices.contains(.settings([1, 2, 3], room: "demo")) == true)
    }

    @Test("does not take its watch for dead because of a deletion that changed nothing")
    func emptyDeletion() {
        open()
        world.twin.writeElsewhere()
        // As if the answer to a first deletion had been lost.
        world.update(a) { directory, now in
            directory.rooms["demo"]?.areSettingsWritten = false
            directory.unsettled.insert("demo")
            directory.wake(now: now)
        }
        world.run(for: ClusterDirectory.watchPatience + .seconds(1))
        #expect(world.relays[a]?.notices.contains(.reachable(false)) == false)
    }

    private var storedSettings: [UInt8]? { world.twin.keys[DirectoryKey.settings(room: "demo").path]?.value }

    @Test("deletes a room's settings when everybody has left, also while a client is expected that was let in before")
    func endedSettings() {
        open()
        world.update(a) { $0.setSettings([1, 2, 3], of: "demo", now: $1) }
        world.run(for: .seconds(1))
        #expect(storedSettings == [1, 2, 3])
        world.leave("demo", at: a)
        world.run(for: .seconds(1))
        #expect(storedSettings == nil && world.twin.owner(of: "demo")?.node == a)
        world.join("demo", at: a)
        world.run(for: .seconds(1))
        world.update(a) { $0.setSettings([4], of: "demo", now: $1) }
        world.run(for: .seconds(1))
        #expect(storedSettings == [4])
    }

    @Test("deletes the settings of a room that it has given away, if everybody leaves and no other relay has it")
    func drainedSettings() {
        for goesOn in [false, true] {
            open()
            world.update(a) { $0.setSettings([1, 2, 3], of: "demo", now: $1) }
            world.run(for: .seconds(1))
            world.update(a) { $0.setDraining(true, now: $1) }
            world.run(for: .seconds(1))
            if goesOn { world.join("demo", at: a) }
            world.run(for: .seconds(1))
            #expect(world.twin.owner(of: "demo")?.node == (goesOn ? b : nil) && storedSettings == [1, 2, 3])
            world.leave("demo", at: a)
            world.run(for: .seconds(1))
            #expect(storedSettings == (goesOn ? [1, 2, 3] : nil))
            world.update(a) { $0.setDraining(false, now: $1) }
        }
    }

    @Test("leaves the newest settings of rooms with participants when it ends, and none of others")
    func settingsOfItsEnd() {
        for isPresent in [true, false] {
            world.run(for: ClusterDirectory.expectation)
            open()
            world.update(a) { $0.setSettings([1, 2, 3], of: "demo", now: $1) }
            world.run(for: .seconds(1))
            world.update(a) { directory, now in
                directory.setSettings([4], of: "demo", now: now)
                if !isPresent { directory.roomClosed("demo", now: now) }
                directory.close(now: now)
                var last: [DirectoryRequest] = []
                while let (_, request) = directory.pollRequest() { last.append(request) }
                for request in last {
                    _ = world.twin.perform(request, id: DirectoryRequestID(rawValue: 0), of: a, now: world.now)
                }
            }
            #expect(world.twin.owner(of: "demo") == nil && storedSettings == (isPresent ? [4] : nil))
            world.restart(a)
            world.run(for: .seconds(8))
        }
    }

    @Test("takes a dead relay's room at once when that has been found out")
    func deposing() throws {
        open()
        let epoch = try #require(world.twin.owner(of: "demo")?.epoch)
        world.setStopped(true, a)
        world.update(b) { $0.depose(epoch, of: "demo", now: $1) }
        world.run(for: .milliseconds(300))
        #expect(world.twin.owner(of: "demo")?.node == b)
        // The relay was only stopped. It wakes up, keeps its call, and writes nothing about the room any more.
        world.setStopped(false, a)
        world.update(a) { $0.setSettings([9], of: "demo", now: $1) }
        world.update(b) { $0.roomOpened("demo", now: $1) }
        world.run(for: .seconds(3))
        let heir = try #require(world.twin.owner(of: "demo"))
        #expect(world.standing(a, "demo") == .following(b, epoch: heir.epoch))
        #expect(world.twin.settingsWriteCount == 0)
        #expect(world.relays[a]?.members["demo"] == 1)
    }

    @Test("deposes nobody but the owner that was found dead")
    func lateDeposing() throws {
        open()
        let epoch = try #require(world.twin.owner(of: "demo")?.epoch)
        world.update(b) { $0.depose(epoch - 1, of: "demo", now: $1) }
        world.run(for: .seconds(1))
        #expect(world.twin.owner(of: "demo")?.epoch == epoch)
    }

    @Test("opens rooms by itself while the directory is away, and gives way to the first when it is back")
    func partition() throws {
        for node in [a, b] { world.setPartitioned(true, node) }
        world.run(for: .seconds(8))
        for node in [a, b] {
            world.join("demo", at: node, hops: 1)
            world.run(for: .seconds(3))
            #expect(world.standing(node, "demo") == .unplaced)
        }
        world.setPartitioned(false, b)
        world.run(for: .seconds(5))
        guard case .leading(let epoch) = world.standing(b, "demo") else { throw TestFailure() }
        world.setPartitioned(false, a)
        world.run(for: .seconds(5))
        #expect(world.standing(a, "demo") == .following(b, epoch: epoch))
        #expect(world.relays[a]?.members["demo"] == 1)
        // Once the other call is over, the rest is led by who is left.
        world.leave("demo", at: b)
        world.run(for: .seconds(20))
        #expect(world.twin.owner(of: "demo")?.node == a)
    }

    @Test("puts everything back into a directory that has lost its data")
    func dataLoss() throws {
        open()
        world.update(a) { $0.setSettings([1, 2, 3], of: "demo", now: $1) }
        world.run(for: .seconds(5))
        let secret = try #require(world.twin.keys[DirectoryKey.secret.path]?.value)
        world.twin.loseEverything()
        for _ in 0..<800 {
            world.run(for: .milliseconds(10))
            // Relays go on to know each other's requests.
            for node in [a, b] { #expect(world.relays[node]?.directory.secret != nil) }
        }
        #expect(world.twin.keys[DirectoryKey.secret.path]?.value == secret)
        #expect(world.twin.keys[DirectoryKey.settings(room: "demo").path]?.value == [1, 2, 3])
        #expect(world.twin.owner(of: "demo")?.node == a)
        #expect(world.standing(a, "demo") == world.twin.owner(of: "demo").map { .leading(epoch: $0.epoch) })
        #expect(world.relays[b]?.directory.owner(of: "demo")?.node == a)
        #expect(world.relays[b]?.directory.nodes.count == 2)
    }

    @Test("does not adopt a page that was asked for before the directory lost its data")
    func staleness() {
        var mirror = DirectoryMirror()
        let request = mirror.step(id: DirectoryRequestID(rawValue: 1), now: .zero)
        #expect(request == .read(from: DirectoryKey.root, revision: nil))
        mirror.readAnew(now: .zero)
        let early = mirror.step(id: DirectoryRequestID(rawValue: 2), now: .zero)
        #expect(early == nil)
        let isRead = mirror.receive(.page([], revision: 1000, hasMore: false), now: .zero)
        // A watch from such a revision would tell nothing until the new directory has it too.
        #expect(!isRead && !mirror.hasSeen(1))
        let next = mirror.step(id: DirectoryRequestID(rawValue: 3), now: MonotonicInstant.zero + .seconds(1))
        #expect(next == .read(from: DirectoryKey.root, revision: nil))
    }

    @Test("asks for a watch again that does not begin")
    func silentWatch() {
        var mirror = DirectoryMirror()
        _ = mirror.step(id: DirectoryRequestID(rawValue: 1), now: .zero)
        let isRead = mirror.receive(.page([], revision: 7, hasMore: false), now: .zero)
        let silent = DirectoryRequestID(rawValue: 2)
        let first = mirror.step(id: silent, now: .zero)
        #expect(isRead && first == .watch(from: 8))
        let later = mirror.nextWakeUp
        #expect(later == MonotonicInstant.zero + .seconds(5))
        let next = DirectoryRequestID(rawValue: 3)
        let second = mirror.step(id: next, now: later)
        #expect(second == .watch(from: 8))
        _ = mirror.receive(.began, of: silent, now: later)
        #expect(!mirror.isLive)
        _ = mirror.receive(.began, of: next, now: later)
        #expect(mirror.isLive && mirror.nextWakeUp == .distantFuture)
    }

    @Test("watches on from the highest revision that there can be")
    func highestRevision() {
        var mirror = DirectoryMirror()
        _ = mirror.step(id: DirectoryRequestID(rawValue: 1), now: .zero)
        _ = mirror.receive(.page([], revision: .max, hasMore: false), now: .zero)
        #expect(mirror.step(id: DirectoryRequestID(rawValue: 2), now: .zero) == .watch(from: .max))
    }

    @Test("gives its rooms away when it drains, and takes rooms again afterwards")
    func draining() {
        open()
        world.update(a) { $0.setDraining(true, now: $1) }
        world.run(for: .seconds(1))
        world.join("demo", at: a)
        world.run(for: .seconds(1))
        #expect(world.twin.owner(of: "demo")?.node == b)
        #expect(world.relays[a]?.members["demo"] == 1)
        world.update(a) { $0.setDraining(false, now: $1) }
        world.join("other", at: a, hops: 1)
        world.run(for: .seconds(1))
        #expect(world.twin.owner(of: "other")?.node == a)
    }

    @Test("writes its record at most once a second")
    func publishing() {
        let before = world.twin.revision
        for seats in 0..<40 {
            world.update(a) { $0.update({ $0.seatsLeft = seats }, now: $1) }
            world.run(for: .milliseconds(100))
        }
        #expect(world.twin.revision - before <= 6)
        world.run(for: .seconds(2))
        #expect(world.relays[b]?.directory.nodes[a]?.seatsLeft == 39)
    }

    @Test("bounds the rooms that wait for their first participant")
    func expectedRooms() {
        for number in 0..<400 { world.update(a) { _ = $0.place("room\(number)", hops: 1, now: $1) } }
        world.run(for: .seconds(3))
        #expect(world.twin.keys.keys.count { $0.hasSuffix("/owner") } == ClusterDirectory.maximumExpectedRooms)
        world.run(for: .seconds(20))
        #expect(world.twin.keys.keys.count { $0.hasSuffix("/owner") } == 0)
    }

    @Test("takes a room while the directory is away, however many have ended meanwhile")
    func endedRooms() {
        let rooms = (0...ClusterDirectory.maximumExpectedRooms).map { "room\($0)" }
        for room in rooms { world.update(a) { $0.roomOpened(room, now: $1) } }
        world.run(for: ClusterDirectory.expectation + .seconds(3))
        world.setPartitioned(true, a)
        world.run(for: .seconds(8))
        for room in rooms { world.update(a) { $0.roomClosed(room, now: $1) } }
        world.update(a) { directory, now in
            #expect(directory.place("demo", hops: 1, now: now) == .here)
        }
    }
}

private struct TestFailure: Error {}
