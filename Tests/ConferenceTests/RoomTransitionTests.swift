import Compositing
import MediaFixtures
import RoomAPI
import SDP
import SecureTransport
import Testing

@testable import Conference
@testable import MediaCore

/// The transitions between the pictures that a room composes.
@Suite struct RoomTransitionTests {
    /// A room of flat colours at 30 pictures a second, whose viewer sends nothing.
    private struct Stage {
        let call: VirtualCall
        let viewer: TestClient
        var clients: [TestClient] = []

        init(_ people: [(String, Colour)], configure: (inout RelayConfiguration) -> Void = { _ in }) throws {
            call = VirtualCall {
                $0.frameRate = 30
                $0.labels = false
                configure(&$0)
            }
            for (name, colour) in people {
                let client = try call.join(name, colour: colour)
                client.isSilent = true
                clients.append(client)
            }
            viewer = try call.join("Viewer", video: .receiveOnly, audio: .receiveOnly, role: .watch)
            call.run(for: .seconds(2))
        }

        var room: Room {
            get throws { try #require(call.relay.rooms["demo"]) }
        }

        /// The parts of the viewer's picture that are of a colour, tick by tick.
        func shares(of colour: Colour, for duration: Duration) throws -> [Double] {
            let viewer = try #require(try room.participants.last { $0.publicID == self.viewer.participantID }).id
            var shares: [Double] = []
            call.onComposed = { tick in
                guard let index = tick.pictureIndex[viewer] else { return }
                shares.append(tick.pictures[index].share(of: colour))
            }
            call.run(for: duration)
            call.onComposed = nil
            return shares
        }
    }

    @Test("a join glides: the pictures between the layouts are between them")
    func join() throws {
        let stage = try Stage([("Ada", .red)])
        try stage.call.join("Ben", colour: .green).isSilent = true
        let shares = try stage.shares(of: .red, for: .milliseconds(500))
        let between = shares.filter { (0.27..<0.95).contains($0) }
        #expect(try #require(shares.first) > 0.95)
        #expect(abs(try #require(shares.last) - 0.25) < 0.02)
        // 300 ms are nine ticks.
        #expect((6...9).contains(between.count), "\(shares)")
        #expect(zip(shares, shares.dropFirst()).allSatisfy { $0 >= $1 }, "\(shares)")
    }

    @Test("a leaving participant fades with the last picture, which is then released")
    func leave() throws {
        let stage = try Stage([("Ada", .red), ("Ben", .green)])
        let (call, ben) = (stage.call, stage.clients[1])
        weak var picture: PixelBufferStorage?
        do {
            picture = try stage.room.participants.first { $0.publicID == ben.participantID }?.uplink?.newest?.storage
        }
        #expect(picture != nil)
        #expect(call.relay.leave(room: "demo", participant: ben.participantID, now: call.now))
        call.remove(ben)
        let shares = try stage.shares(of: .green, for: .milliseconds(150))
        #expect(try #require(shares.first) > 0.2)
        #expect(try #require(shares.last) > 0, "it is still seen")
        #expect(try stage.room.composition.exiting.count == 1)
        #expect(picture != nil)
        let later = try stage.shares(of: .green, for: .milliseconds(400))
        #expect(later.last == 0)
        #expect(try stage.room.composition.exiting.count == 0)
        #expect(picture == nil)
    }

    @Test("when the last viewer leaves with a source, the source's picture is released")
    func nobodyLooks() throws {
        let stage = try Stage([])
        let call = stage.call
        let camera = try call.join("Camera", colour: .red, video: .sendOnly, audio: .sendOnly, role: .publish)
        try call.join("Other", colour: .blue, video: .sendOnly, audio: .sendOnly, role: .publish)
        call.run(for: .seconds(2))
        weak var picture: PixelBufferStorage?
        do {
            picture = try stage.room.participants.first { $0.publicID == camera.participantID }?.uplink?.newest?.storage
        }
        #expect(picture != nil)
        for client in [stage.viewer, camera] {
            #expect(call.relay.leave(room: "demo", participant: client.participantID, now: call.now))
            call.remove(client)
        }
        call.run(for: .milliseconds(200))
        #expect(picture == nil)
        #expect(try stage.room.composition.plan?.requiredSources.isEmpty ?? true)
    }

    @Test("a screen fades with its last picture when its stream ends")
    func screenEnds() throws {
        let stage = try Stage([("Ada", .red)])
        let call = stage.call
        let ben = try call.join("Ben", colour: .green) { $0.screenShare = .init(direction: .sendOnly) }
        ben.screenShare = .yellow
        call.run(for: .seconds(2))
        let participant = try #require(try stage.room.participants.last)
        ben.screenShare = nil
        // Packets that are on their way arrive before the end.
        call.run(for: .milliseconds(300))
        try stage.room.videoEnded(.screenShare, of: participant, now: call.now)
        let shares = try stage.shares(of: .yellow, for: .milliseconds(150))
        #expect(try #require(shares.first) > 0.4)
        #expect(try #require(shares.last) > 0.02)
        let later = try stage.shares(of: .yellow, for: .milliseconds(400))
        #expect(later.last == 0)
        #expect(try stage.room.composition.exiting.count == 0)
    }

    @Test("a layout changed during a transition continues from its present state")
    func interrupted() throws {
        let stage = try Stage([("Ada", .red), ("Ben", .green)])
        let call = stage.call
        let solo = RoomLayout.solo(participant: stage.clients[0].participantID)
        try call.relay.perform(.setLayout(solo), room: "demo", now: call.now)
        let growing = try stage.shares(of: .red, for: .milliseconds(150))
        try call.relay.perform(.setLayout(.grid), room: "demo", now: call.now)
        let shrinking = try stage.shares(of: .red, for: .milliseconds(500))
        let (turn, next) = (try #require(growing.last), try #require(shrinking.first))
        #expect(turn > 0.3 && turn < 0.95)
        #expect(abs(turn - next) < 0.2, "\(growing) \(shrinking)")
        #expect(abs(try #require(shrinking.last) - 0.25) < 0.02)
    }

    @Test("with transitions off everything changes at once")
    func off() throws {
        let stage = try Stage([("Ada", .red)]) { $0.transitions = .off }
        let ben = try stage.call.join("Ben", colour: .green)
        let shares = try stage.shares(of: .red, for: .milliseconds(200))
        #expect(shares.allSatisfy { abs($0 - 0.25) < 0.02 }, "\(shares)")
        stage.call.run(for: .seconds(1))
        #expect(stage.call.relay.leave(room: "demo", participant: ben.participantID, now: stage.call.now))
        let after = try stage.shares(of: .red, for: .milliseconds(100))
        #expect(after.allSatisfy { $0 > 0.95 }, "\(after)")
    }

    @Test("receivers with the same view share one composition, while it changes too")
    func shared() throws {
        let stage = try Stage([("Ada", .red)])
        for index in 0..<3 {
            try stage.call.join("Viewer \(index)", video: .receiveOnly, audio: .receiveOnly, role: .watch)
        }
        stage.call.run(for: .seconds(1))
        try stage.call.join("Ben", colour: .green).isSilent = true
        var counts: [Int] = []
        stage.call.onComposed = { counts.append($0.pictures.count) }
        stage.call.run(for: .milliseconds(500))
        // The viewers', Ada's and Ben's.
        #expect(counts.count >= 14)
        #expect(counts.allSatisfy { $0 == 3 }, "\(counts)")
    }

    @Test("the plan is made again when something changes, and when a transition ends")
    func planning() throws {
        let stage = try Stage([("Ada", .red)])
        let room = try stage.room
        #expect(room.composition.plan?.end == .positiveInfinity)
        #expect(room.composition.plan?.requests.contains { $0.instruction.containsTweening } == false)
        try stage.call.join("Ben", colour: .green).isSilent = true
        stage.call.run(for: .milliseconds(100))
        #expect(room.composition.plan?.end.isNumeric == true)
        #expect(room.composition.plan?.requests.contains { $0.instruction.containsTweening } == true)
        stage.call.run(for: .milliseconds(400))
        #expect(room.composition.plan?.end == .positiveInfinity)
        #expect(room.composition.plan?.requests.contains { $0.instruction.containsTweening } == false)
    }
}
