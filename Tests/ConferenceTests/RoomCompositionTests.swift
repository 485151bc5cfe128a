import Compositing
import Foundation
import MediaCore
import MediaFixtures
import PixelTransfer
import RTP
import RoomAPI
import SDP
import SecureTransport
import Synchronization
import Testing

@testable import Conference

/// The pictures that a room composes, and those that it leaves out.
@Suite struct RoomCompositionTests {
    /// A call whose viewer sends nothing, so that it sees everyone.
    private func makeCall(
        _ colours: [Colour], dimensions: VideoDimensions = VideoDimensions(width: 160, height: 90),
        configure: (inout RelayConfiguration) -> Void = { _ in }
    ) throws -> (call: VirtualCall, clients: [TestClient], viewer: TestClient) {
        let call = VirtualCall {
            $0.labels = false
            configure(&$0)
        }
        let clients = try colours.enumerated().map { index, colour in
            let client = try call.join(["Ada", "Ben", "Cy", "Dan"][index], colour: colour, dimensions: dimensions)
            client.isSilent = true
            return client
        }
        let viewer = try call.join("Viewer", video: .receiveOnly, audio: .receiveOnly, role: .watch)
        return (call, clients, viewer)
    }

    private func counters(_ call: VirtualCall) throws -> PictureCounters {
        try #require(call.relay.snapshot(room: "demo", now: call.now)).pictures
    }

    @Test("a room in which nothing changes renders nothing")
    func staticRoom() throws {
        let (call, clients, _) = try makeCall([.red, .green])
        for client in clients {
            try call.relay.perform(
                .setMediaState(MediaState(camera: false), participant: client.participantID), room: "demo",
                now: call.now)
        }
        call.run(for: .seconds(2))
        let before = try counters(call)
        call.run(for: .seconds(4))
        let after = try counters(call)
        #expect(after.rendered == before.rendered)
        // Three pictures a tick, fifteen ticks a second.
        #expect(after.reused - before.reused == 180)
    }

    @Test("a source of the canvas's size, alone on it, goes to the encoder as it was decoded")
    func passthrough() throws {
        let (call, clients, viewer) = try makeCall([.red], dimensions: VideoDimensions(width: 320, height: 180))
        call.run(for: .seconds(2))
        let room = try #require(call.relay.rooms["demo"])
        let ada = try #require(room.participants.first)
        let watching = try #require(room.participants.last).id
        var identical: [Bool] = []
        var origins: [ComposedPicture.Origin] = []
        call.onComposed = { tick in
            guard let index = tick.pictureIndex[watching] else { return }
            identical.append(ada.uplink?.newest.map { $0 === tick.pictures[index] } ?? false)
            origins.append(tick.origins[index])
        }
        call.run(for: .seconds(1))
        #expect(identical.count >= 14)
        #expect(!identical.contains(false))
        #expect(origins.allSatisfy { $0 == .passthrough(.camera(ada.id)) })
        #expect(try counters(call).passedThrough >= 14)
        #expect(try #require(viewer.picture).colour(x: 160, y: 90).resembles(.red))
        // With something above it, it is composed.
        try call.relay.perform(
            .setOverlays(OverlayList([.init(.text("On air"), anchor: .topLeft, height: 0.1)])), room: "demo",
            now: call.now)
        call.run(for: .seconds(1))
        #expect(origins.last == .rendered)
        withExtendedLifetime(clients) {}
    }

    @Test("a compositor that fails leaves the last good picture, and the call continues")
    func failingCompositor() throws {
        let failure = FailureSwitch()
        let (call, clients, viewer) = try makeCall([.red, .green]) {
            $0.makeCompositor = { UnreliableCompositor(failure) }
        }
        call.run(for: .seconds(2))
        #expect(try #require(viewer.picture).share(of: .red) > 0.2)
        #expect(try counters(call).fallbacks == 0)
        failure.isOn.withLock { $0 = true }
        let frames = viewer.arrivals.count
        let packets = viewer.audioPackets.count
        call.run(for: .seconds(2))
        #expect(try counters(call).fallbacks >= 25)
        #expect(viewer.arrivals.count > frames + 5)
        #expect(viewer.audioPackets.count > packets + 90)
        #expect(try #require(viewer.picture).share(of: .red) > 0.2)
        failure.isOn.withLock { $0 = false }
        let rendered = try counters(call).rendered
        call.run(for: .seconds(1))
        #expect(try counters(call).rendered > rendered + 10)
        withExtendedLifetime(clients) {}
    }

    @Test("only sources that somebody sees are required")
    func requiredSources() throws {
        let (call, clients, _) = try makeCall([.red, .green, .blue])
        let room = try #require(call.relay.rooms["demo"])
        call.run(for: .seconds(1))
        var required: Set<SourceID> { room.composition.plan?.requiredSources ?? [] }
        let cameras = room.participants.prefix(3).map { SourceID.camera($0.id) }
        #expect(required == Set(cameras))
        try call.relay.perform(
            .setLayout(RoomLayout(.grid, hidden: [clients[1].participantID])), room: "demo", now: call.now)
        call.run(for: .seconds(1))
        #expect(required == [cameras[0], cameras[2]])
        try call.relay.perform(.setLayout(.solo(participant: clients[2].participantID)), room: "demo", now: call.now)
        call.run(for: .seconds(1))
        // Cy is shown Ada, the first of the others.
        #expect(required.isSubset(of: [cameras[0], cameras[1], cameras[2]]))
        #expect(required.contains(cameras[2]))
    }

    @Test("composing is cancelled when the room ends")
    func cancellation() throws {
        let (call, clients, viewer) = try makeCall([.red, .green])
        call.run(for: .seconds(1))
        // While the layout changes, every picture is rendered.
        try call.relay.perform(.setLayout(.speaker), room: "demo", now: call.now)
        var held: Job?
        var now = call.now
        while held == nil {
            now = now + .milliseconds(5)
            call.relay.wake(now: now)
            while let job = call.relay.pollJob() {
                if job.kind == .compose { held = job } else { call.relay.complete(job.run { now }, now: now) }
            }
        }
        for client in clients + [viewer] {
            #expect(call.relay.leave(room: "demo", participant: client.participantID, now: now))
        }
        guard case .composed(_, let tick)? = held?.run(clock: { now }).output else {
            Issue.record("a compose job composes")
            return
        }
        #expect(tick.origins.contains(.fallback(.cancelled)))
        #expect(!tick.origins.contains(.rendered))
    }

    // MARK: What is seen

    @Test("a participant hidden from one is seen by the others, and heard by all")
    func hiddenFromOne() throws {
        let (call, clients, viewer) = try makeCall([.red, .green])
        clients[1].isSilent = false
        try call.relay.perform(
            .setParticipantLayout(
                ParticipantLayout(hidden: [clients[1].participantID]), participant: viewer.participantID), room: "demo",
            now: call.now)
        call.run(for: .seconds(2))
        let seen = try #require(viewer.picture)
        #expect(seen.share(of: .green) == 0 && seen.share(of: .red) > 0.9)
        #expect(try #require(clients[0].picture).share(of: .green) > 0.9)
        #expect(viewer.audioPackets.count > 80)
        try call.relay.perform(
            .setParticipantLayout(nil, participant: viewer.participantID), room: "demo", now: call.now)
        call.run(for: .seconds(1))
        #expect(try #require(viewer.picture).share(of: .green) > 0.2)
    }

    @Test("a participant hidden in the room is seen by nobody, until it has left or is shown again")
    func hiddenFromAll() throws {
        let (call, clients, viewer) = try makeCall([.red, .green, .blue])
        try call.relay.perform(
            .setLayout(RoomLayout(.grid, hidden: [clients[1].participantID])), room: "demo", now: call.now)
        call.run(for: .seconds(2))
        for client in [viewer, clients[0], clients[2]] {
            #expect(try #require(client.picture).share(of: .green) == 0, "\(client.name)")
        }
        #expect(call.relay.leave(room: "demo", participant: clients[1].participantID, now: call.now))
        #expect(call.relay.snapshot(room: "demo", now: call.now)?.layout == .grid)
    }

    @Test("self-view can be turned on and off during the call")
    func selfView() throws {
        let (call, clients, _) = try makeCall([.red, .green])
        let ada = clients[0]
        call.run(for: .seconds(2))
        #expect(try #require(ada.picture).share(of: .red) == 0)
        try call.relay.perform(
            .setParticipantLayout(ParticipantLayout(selfView: .always), participant: ada.participantID), room: "demo",
            now: call.now)
        call.run(for: .seconds(2))
        #expect(try #require(ada.picture).share(of: .red) > 0.2)
        #expect(try #require(clients[1].picture).share(of: .green) == 0)
        try call.relay.perform(
            .setParticipantLayout(ParticipantLayout(selfView: .never), participant: ada.participantID), room: "demo",
            now: call.now)
        call.run(for: .seconds(2))
        #expect(try #require(ada.picture).share(of: .red) == 0)
    }

    @Test("cameras fill their tiles if the room wants it, and a participant can want the opposite")
    func fit() throws {
        let (call, _, viewer) = try makeCall([.yellow], dimensions: VideoDimensions(width: 90, height: 160))
        call.run(for: .seconds(2))
        #expect(try #require(viewer.picture).share(of: .yellow) < 0.5)
        try call.relay.perform(.setLayout(RoomLayout(.grid, fit: .cover)), room: "demo", now: call.now)
        call.run(for: .seconds(2))
        #expect(try #require(viewer.picture).share(of: .yellow) > 0.95)
        try call.relay.perform(
            .setParticipantLayout(ParticipantLayout(fit: .contain), participant: viewer.participantID), room: "demo",
            now: call.now)
        call.run(for: .seconds(2))
        #expect(try #require(viewer.picture).share(of: .yellow) < 0.5)
    }

    @Test("a template lays a room out, with its background and its slots")
    func template() throws {
        let blue = ImageAsset(name: "blue", colour: (255, 0, 0), side: 16)
        let (call, clients, viewer) = try makeCall([.red, .green]) { $0.images = ImageLibrary([blue]) }
        let json = """
            {"layout":"template","template":{"background":{"image":"blue"},"slots":[
            {"name":"right","x":0.5,"y":0,"width":0.5,"height":1,"show":["participant:Ada"],"fit":"cover"}]}}
            """
        let layout = try JSONDecoder().decode(RoomLayout.self, from: Data(json.utf8))
        try call.relay.perform(.setLayout(layout), room: "demo", now: call.now)
        call.run(for: .seconds(2))
        let picture = try #require(viewer.picture)
        #expect(picture.colour(x: 240, y: 90).resembles(.red))
        #expect(picture.colour(x: 60, y: 90).resembles(.blue))
        #expect(picture.share(of: .green) == 0)
        let written = try JSONEncoder().encode(layout)
        #expect(try JSONDecoder().decode(RoomLayout.self, from: written) == layout)
        withExtendedLifetime(clients) {}
    }

    @Test("overlays are shown, a clock runs, and an empty list removes them")
    func overlays() throws {
        let (call, clients, viewer) = try makeCall([.red])
        try call.relay.perform(
            .setMediaState(MediaState(camera: false), participant: clients[0].participantID), room: "demo",
            now: call.now)
        call.run(for: .seconds(2))
        let plain = try #require(viewer.picture).colour(x: 12, y: 12)
        let list = OverlayList([.init(.clock(utcOffset: 0), anchor: .topLeft, height: 0.3)])
        try call.relay.perform(.setOverlays(list), room: "demo", now: call.now)
        #expect(call.roomEvents().last == .overlaysChanged(list))
        #expect(call.relay.state(ofRoom: "demo")?.overlays == list)
        call.run(for: .seconds(2))
        #expect(try #require(viewer.picture).colour(x: 12, y: 12) != plain)
        let before = try counters(call)
        call.run(for: .seconds(4))
        let after = try counters(call)
        // Two pictures, Ada's and the viewer's, once a second and not at every tick.
        #expect((6...10).contains(after.rendered - before.rendered), "\(after.rendered - before.rendered)")
        try call.relay.perform(.setOverlays(OverlayList()), room: "demo", now: call.now)
        call.run(for: .seconds(1))
        let seen = try #require(viewer.picture).colour(x: 12, y: 12)
        #expect(abs(Int(seen.y) - Int(plain.y)) < 6)
    }

    @Test("a clock shows what the system's clock was set to")
    func clockThatIsSet() throws {
        func face(afterSettingBy change: Duration) throws -> [UInt8] {
            let (call, clients, viewer) = try makeCall([.red])
            let list = OverlayList([.init(.clock(utcOffset: 0), anchor: .topLeft, height: 0.3)])
            try call.relay.perform(.setOverlays(list), room: "demo", now: call.now)
            call.run(for: .seconds(2))
            call.relay.setWallClock(WallClock(ntpAtOrigin: call.wallClock.ntpAtOrigin + change))
            call.run(for: .seconds(2))
            let picture = try #require(viewer.picture)
            return withExtendedLifetime(clients) {
                (0..<320 * 90).map { picture.colour(x: $0 % 320, y: $0 / 320).y }
            }
        }
        let (before, after) = (try face(afterSettingBy: .zero), try face(afterSettingBy: .seconds(1800)))
        #expect(zip(before, after).count { abs(Int($0) - Int($1)) > 60 } > 100)
    }

    @Test("an avatar replaces a camera that is off, and the explanation says so")
    func avatar() throws {
        let (call, clients, viewer) = try makeCall([.green])
        let ada = clients[0]
        try call.relay.perform(
            .setAvatar(.red, participant: ada.participantID), room: "demo", now: call.now)
        try call.relay.perform(
            .setMediaState(MediaState(camera: false), participant: ada.participantID), room: "demo", now: call.now)
        call.run(for: .seconds(2))
        #expect(try #require(viewer.picture).colour(x: 160, y: 90).resembles(.red))
        #expect(call.relay.state(ofRoom: "demo")?.participants.first?.avatar == true)
        try call.relay.perform(.setAvatar(nil, participant: ada.participantID), room: "demo", now: call.now)
        call.run(for: .seconds(2))
        #expect(try #require(viewer.picture).colour(x: 160, y: 90).resembles(.red) == false)
    }

    // MARK: What is refused

    @Test("unknown participants and images are named with their place")
    func refusals() throws {
        let (call, clients, _) = try makeCall([.red])
        let (relay, now) = (call.relay, call.now)
        let wrong = RoomLayout(.grid, hidden: [clients[0].participantID, "x"])
        let refusal = #expect(throws: RoomControlError.self) {
            try relay.perform(.setLayout(wrong), room: "demo", now: now)
        }
        #expect(refusal?.issues.map(\.path) == ["hide[1]"])
        let overlays = OverlayList([
            .init(.text("a"), anchor: .top, height: 0.1), .init(.image("logo"), anchor: .top, height: 0.1),
        ])
        let missing = #expect(throws: RoomControlError.self) {
            try relay.perform(.setOverlays(overlays), room: "demo", now: now)
        }
        #expect(missing?.issues.map(\.path) == ["[1].image"])
        let template = LayoutTemplate(background: .image("wall"), arrangements: [])
        let background = #expect(throws: RoomControlError.self) {
            try relay.perform(.setLayout(RoomLayout(.template(template))), room: "demo", now: now)
        }
        #expect(background?.issues.map(\.path) == ["template.background.image"])
        #expect(relay.snapshot(room: "demo", now: now)?.layout == .grid)
    }
}

/// Decides from outside whether compositors fail.
private final class FailureSwitch: Sendable {
    let isOn = Mutex(false)
}

/// The built-in compositor, which fails when it is told to.
private final class UnreliableCompositor: VideoCompositing {
    private let failure: FailureSwitch
    private let compositor = LayerCompositor()

    init(_ failure: FailureSwitch) {
        self.failure = failure
    }

    var sourceAttributes: PixelBufferAttributes { compositor.sourceAttributes }
    var destinationAttributes: PixelBufferAttributes { compositor.destinationAttributes }

    func render(_ request: VideoCompositionRequest) throws(VideoCompositingError) -> PixelBuffer {
        guard !failure.isOn.withLock(\.self) else { throw .failed(reason: "a test wanted it") }
        return try compositor.render(request)
    }
}
