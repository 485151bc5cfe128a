import Compositing
import Foundation
import MediaCore
import MediaFixtures
import RoomAPI
import SDP
import SecureTransport
import Testing

@testable import Conference

/// Layouts as those in the room see them.
@Suite struct RoomLayoutTests {
    /// A call whose viewer sends nothing, so that it sees everyone.
    private struct Watched {
        let call: VirtualCall
        let viewer: TestClient
        var clients: [TestClient] = []

        init(_ colours: [Colour]) throws {
            call = VirtualCall()
            for (index, colour) in colours.enumerated() {
                let client = try call.join(["Ada", "Ben", "Cy", "Dan"][index], colour: colour)
                client.isSilent = true
                clients.append(client)
            }
            viewer = try call.join("Viewer", video: .receiveOnly, audio: .receiveOnly, role: .watch)
        }

        /// The colour that the viewer sees at a point, in parts of the canvas.
        func seen(_ x: Double, _ y: Double) throws -> Colour {
            let picture = try #require(viewer.picture)
            return picture.colour(
                x: Int(x * Double(picture.dimensions.width)), y: Int(y * Double(picture.dimensions.height)))
        }
    }

    @Test("the room's layout applies to everyone except participants that chose another")
    func roomAndOwn() throws {
        let watched = try Watched([.red, .green, .blue])
        let (call, clients) = (watched.call, watched.clients)
        try call.relay.perform(.setLayout(.solo(participant: clients[1].participantID)), room: "demo", now: call.now)
        try call.relay.perform(
            .setParticipantLayout(
                ParticipantLayout(.solo(participant: clients[2].participantID)), participant: clients[0].participantID),
            room: "demo", now: call.now)
        call.run(for: .seconds(3))
        #expect(try watched.seen(0.1, 0.1).resembles(.green))
        #expect(try watched.seen(0.9, 0.9).resembles(.green))
        #expect(try #require(clients[0].picture).colour(x: 160, y: 90).resembles(.blue))
        try call.relay.perform(
            .setParticipantLayout(nil, participant: clients[0].participantID), room: "demo", now: call.now)
        call.run(for: .seconds(2))
        #expect(try #require(clients[0].picture).colour(x: 160, y: 90).resembles(.green))
    }

    @Test("the speaker becomes large, and a cough makes nobody else large")
    func speakerIsLarge() throws {
        let watched = try Watched([.red, .green, .blue])
        let (call, clients) = (watched.call, watched.clients)
        try call.relay.perform(.setLayout(.speaker), room: "demo", now: call.now)
        call.run(for: .seconds(1))
        clients[1].isSilent = false
        call.run(for: .seconds(4))
        #expect(try watched.seen(0.5, 0.3).resembles(.green))
        clients[1].isSilent = true
        call.run(for: .milliseconds(300))
        clients[2].isSilent = false
        call.run(for: .milliseconds(250))
        clients[2].isSilent = true
        call.run(for: .seconds(3))
        #expect(try watched.seen(0.5, 0.3).resembles(.green))
        #expect(
            call.relay.snapshot(room: "demo", now: call.now)?.activeSpeaker == clients[1].participantID)
        clients[2].isSilent = false
        call.run(for: .seconds(3))
        #expect(try watched.seen(0.5, 0.3).resembles(.blue))
    }

    @Test("a muted participant does not become the speaker, whatever it sends")
    func mutedIsNoSpeaker() throws {
        let watched = try Watched([.red, .green])
        let (call, clients) = (watched.call, watched.clients)
        try call.relay.perform(
            .setMediaState(MediaState(microphone: false), participant: clients[1].participantID), room: "demo",
            now: call.now)
        clients[1].isSilent = false
        call.run(for: .seconds(4))
        let snapshot = try #require(call.relay.snapshot(room: "demo", now: call.now))
        #expect(snapshot.activeSpeaker == nil)
        #expect(snapshot.participants.map(\.microphone) == [true, false, false])
        #expect(snapshot.participants.filter(\.isSpeaking).isEmpty)
    }

    @Test("a screen that is presented is large in the grid, and the grid comes back when it ends")
    func presentation() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red) { $0.screenShare = .init(direction: .sendOnly) }
        let ben = try call.join("Ben", colour: .green)
        call.run(for: .seconds(2))
        #expect(try #require(ben.picture).colour(x: 160, y: 90).resembles(.red))
        ada.screenShare = .yellow
        call.run(for: .seconds(3))
        // The screen of 4:3 has three quarters of the canvas; the one other camera stands beside it.
        var picture = try #require(ben.picture)
        #expect(picture.colour(x: 120, y: 90).resembles(.yellow))
        #expect(picture.colour(x: 120, y: 8).resembles(.yellow))
        #expect(picture.colour(x: 280, y: 90).resembles(.red))
        // A member that presents does not see its own screen again.
        #expect(try #require(ada.picture).colour(x: 160, y: 90).resembles(.green))
        #expect(call.relay.snapshot(room: "demo", now: call.now)?.participants.first?.screenShare?.width == 160)

        // A screen on which nothing moves is not sent again and again, and stays.
        ada.screenShare = nil
        call.run(for: .seconds(20))
        #expect(try #require(ben.picture).colour(x: 120, y: 90).resembles(.yellow))

        let room = try #require(call.relay.rooms["demo"])
        room.videoEnded(.screenShare, of: try #require(room.participants.first), now: call.now)
        call.run(for: .seconds(2))
        picture = try #require(ben.picture)
        #expect(picture.colour(x: 120, y: 90).resembles(.red))
        #expect(call.relay.snapshot(room: "demo", now: call.now)?.participants.first?.screenShare == nil)
    }

    @Test("a phone's picture is upright, however it is held")
    func rotation() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red)
        let ben = try call.join("Ben", colour: .red)
        // Left half red, right half blue.
        ben.pictures = [.halves(.red, .blue, dimensions: VideoDimensions(width: 160, height: 90))]
        for (rotation, red, blue) in [
            (VideoRotation.none, (80, 90), (240, 90)), (.clockwise90, (160, 45), (160, 135)),
            (.rotate180, (240, 90), (80, 90)), (.clockwise270, (160, 135), (160, 45)),
        ] {
            ben.rotation = rotation
            call.run(for: .seconds(2))
            let picture = try #require(ada.picture)
            #expect(picture.colour(x: red.0, y: red.1).resembles(.red), "\(rotation)")
            #expect(picture.colour(x: blue.0, y: blue.1).resembles(.blue), "\(rotation)")
        }
    }

    @Test("a camera that is turned off is a placeholder at the next tick, and shows nothing old when it is on again")
    func cameraOff() throws {
        let watched = try Watched([.red])
        let (call, ada) = (watched.call, watched.clients[0])
        call.run(for: .seconds(2))
        #expect(try watched.seen(0.1, 0.1).resembles(.red))
        try call.relay.perform(
            .setMediaState(MediaState(camera: false), participant: ada.participantID), room: "demo", now: call.now)
        // Its pictures keep coming, but are not shown.
        call.run(for: .milliseconds(300))
        #expect(try watched.seen(0.1, 0.1).resembles(.red) == false)
        ada.isSendingVideo = false
        call.run(for: .seconds(1))
        try call.relay.perform(
            .setMediaState(MediaState(camera: true), participant: ada.participantID), room: "demo", now: call.now)
        call.run(for: .seconds(1))
        #expect(try watched.seen(0.1, 0.1).resembles(.red) == false)
        ada.isSendingVideo = true
        call.run(for: .seconds(2))
        #expect(try watched.seen(0.1, 0.1).resembles(.red))
    }

    @Test("all receivers with the same view are sent one picture, made once a tick")
    func sharedPictures() throws {
        let watched = try Watched([.red, .green])
        let call = watched.call
        for index in 0..<3 {
            try call.join("Viewer \(index)", video: .receiveOnly, audio: .receiveOnly, role: .watch)
        }
        call.run(for: .seconds(1))
        let before = try #require(call.relay.snapshot(room: "demo", now: call.now))
        call.run(for: .seconds(1))
        let after = try #require(call.relay.snapshot(room: "demo", now: call.now))
        // One for the four viewers, one for each of the two who do not see themselves.
        #expect(after.composedPictures - before.composedPictures == 3 * (after.ticks - before.ticks))
        try call.relay.perform(
            .setLayout(.solo(participant: watched.clients[0].participantID)), room: "demo", now: call.now)
        // While it changes, each is on the way from another picture.
        call.run(for: .seconds(1))
        let solo = try #require(call.relay.snapshot(room: "demo", now: call.now))
        call.run(for: .seconds(1))
        let last = try #require(call.relay.snapshot(room: "demo", now: call.now))
        // Ada cannot be shown Ada, and sees Ben; all others see Ada.
        #expect(last.composedPictures - solo.composedPictures == 2 * (last.ticks - solo.ticks))
    }

    @Test("a layout that depends on a participant ends when the participant leaves")
    func subjectLeaves() throws {
        let watched = try Watched([.red, .green])
        let (call, clients) = (watched.call, watched.clients)
        let pinned = RoomLayout.pinned(participant: clients[0].participantID)
        try call.relay.perform(.setLayout(pinned), room: "demo", now: call.now)
        try call.relay.perform(
            .setParticipantLayout(
                ParticipantLayout(.solo(participant: clients[0].participantID)),
                participant: watched.viewer.participantID), room: "demo", now: call.now)
        #expect(call.relay.snapshot(room: "demo", now: call.now)?.layout == pinned)
        #expect(call.relay.leave(room: "demo", participant: clients[0].participantID, now: call.now))
        let snapshot = try #require(call.relay.snapshot(room: "demo", now: call.now))
        #expect(snapshot.layout == .grid)
        #expect(snapshot.participants.allSatisfy { $0.layout == nil })
    }

    @Test("layouts of missing participants are refused")
    func errors() throws {
        let watched = try Watched([.red])
        let (relay, now) = (watched.call.relay, watched.call.now)
        #expect(throws: RoomControlError.noSuchRoom("other")) {
            try relay.perform(.setLayout(.grid), room: "other", now: now)
        }
        #expect(throws: RoomControlError.noSuchParticipant("x")) {
            try relay.perform(.setParticipantLayout(ParticipantLayout(.grid), participant: "x"), room: "demo", now: now)
        }
        #expect(throws: RoomControlError.noSuchParticipant("x")) {
            try relay.perform(.setMediaState(MediaState(), participant: "x"), room: "demo", now: now)
        }
        #expect(throws: RoomControlError.layoutNamesNobody(participant: "x")) {
            try relay.perform(.setLayout(.pinned(participant: "x")), room: "demo", now: now)
        }
        #expect(relay.snapshot(room: "demo", now: now)?.layout == .grid)
    }

    @Test(
        "layouts are written as JSON and read back",
        arguments: [
            (RoomLayout.grid, #"{"layout":"grid"}"#), (.speaker, #"{"layout":"speaker"}"#),
            (.sideBySide, #"{"layout":"side-by-side"}"#), (.pictureInPicture, #"{"layout":"picture-in-picture"}"#),
            (.presentation, #"{"layout":"presentation"}"#),
            (.pinned(participant: "k3"), #"{"layout":"pinned","participant":"k3"}"#),
            (.solo(participant: "k3"), #"{"layout":"solo","participant":"k3"}"#),
        ])
    func json(layout: RoomLayout, text: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(String(decoding: try encoder.encode(layout), as: UTF8.self) == text)
        #expect(try JSONDecoder().decode(RoomLayout.self, from: Data(text.utf8)) == layout)
    }

    @Test(
        "fit, hidden participants and the self-view stand beside the layout",
        arguments: [
            (ParticipantLayout(), "{}"), (ParticipantLayout(hidden: ["k3"]), #"{"hide":["k3"]}"#),
            (ParticipantLayout(selfView: .never), #"{"selfView":"never"}"#),
            (
                ParticipantLayout(.pinned(participant: "k3"), fit: .cover, hidden: ["x", "y"], selfView: .always),
                #"{"fit":"cover","hide":["x","y"],"layout":"pinned","participant":"k3","selfView":"always"}"#
            ),
        ])
    func ownJSON(layout: ParticipantLayout, text: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(String(decoding: try encoder.encode(layout), as: UTF8.self) == text)
        #expect(try JSONDecoder().decode(ParticipantLayout.self, from: Data(text.utf8)) == layout)
    }

    @Test(
        "JSON that is no participant's layout is refused",
        arguments: [
            #"{"participant":"k3"}"#, #"{"selfView":"sometimes"}"#, #"{"fit":"stretch"}"#, #"{"hide":"k3"}"#,
            #"{"layout":"pinned"}"#, "[]",
        ])
    func wrongOwnJSON(text: String) {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(ParticipantLayout.self, from: Data(text.utf8))
        }
    }

    @Test(
        "JSON that is no layout is refused",
        arguments: [#"{"layout":"mosaic"}"#, #"{"layout":"pinned"}"#, #"{}"#, #"{"layout":7}"#, "[]"])
    func wrongJSON(text: String) {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(RoomLayout.self, from: Data(text.utf8))
        }
    }
}
