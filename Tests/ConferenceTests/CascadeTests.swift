import AudioMixing
import CongestionControl
import LinkEmulation
import MediaCore
import MediaFixtures
import NIOCore
import OrderedCollections
import RoomAPI
import SDP
import SecureTransport
import Testing

@testable import Conference
@testable import PeerConnection

/// One room on several relays, on virtual time.
@Suite("A room on several relays")
struct CascadeTests {
    @Test("everybody sees and hears everybody")
    func together() throws {
        let pair = VirtualCascade(["a", "b"])
        let ada = try pair[0].join("Ada", colour: .red)
        let ben = try pair[1].join("Ben", colour: .green)
        let cy = try pair[1].join("Cy", colour: .blue)
        pair.run(for: .seconds(1))
        try pair.link(1, 0)
        pair.run(for: .seconds(5))
        #expect(pair.names(0) == ["Ada", "Ben", "Cy"])
        #expect(pair.names(1) == ["Ada", "Ben", "Cy"])
        let seen = try #require(ada.picture)
        #expect(seen.colour(x: 80, y: 90).resembles(.green))
        #expect(seen.colour(x: 240, y: 90).resembles(.blue))
        for (client, other) in [(ben, Colour.blue), (cy, .green)] {
            let seen = try #require(client.picture)
            let colours = [seen.colour(x: 80, y: 90), seen.colour(x: 240, y: 90)]
            #expect(colours.contains { $0.resembles(.red) }, "\(client.name)")
            #expect(colours.contains { $0.resembles(other) }, "\(client.name)")
            #expect(client.decodeFailures == 0)
        }
        for (name, index) in [("Ben", 0), ("Cy", 0), ("Ada", 1)] {
            let member = try #require(pair.remote(name, at: index))
            let level = try #require(pair.room(index)?.audio.state(of: member.id)?.report?.level)
            #expect(level.decibelsBelowOverload < 40, "\(name) is heard at -\(level.decibelsBelowOverload) dB")
        }
        #expect(pair.refusals.isEmpty)
        #expect(pair[0].relay.cascadeCounters.packets > 100)
        // The snapshot of a relay has the figures of its own participants alone.
        let snapshot = try #require(pair[0].relay.snapshot(room: "demo", now: pair.now))
        #expect(snapshot.participants.map(\.name) == ["Ada"])
        #expect(snapshot.elsewhere.map { "\($0.name) at \($0.relay)" } == ["Ben at b", "Cy at b"])
        #expect(pair[0].relay.state(ofRoom: "demo")?.participants.count == 3)
    }

    @Test("a film at one relay is seen at the other, and encoded only while it is")
    func film() throws {
        let pair = VirtualCascade(["a", "b"])
        try pair[0].join("Ada", colour: .red)
        try pair[0].act { relay, now in
            try relay.perform(.startPlayer(id: "player-1", name: "Talk", publisher: nil), room: "demo", now: now)
            let status = PlayerStatus(id: "player-1", name: "Talk", state: .playing, video: true, audio: false)
            try relay.perform(.setPlayer(status), room: "demo", now: now)
        }
        let film = try VirtualFilm(.blue)
        func play(seconds: Int) throws {
            for _ in 0..<(seconds * 25) {
                try film.show(in: pair[0])
                pair.run(for: .milliseconds(40))
            }
        }
        try play(seconds: 1)
        #expect(film.demands.allSatisfy { $0 == nil })
        let ben = try pair[1].join("Ben", colour: .green)
        try pair.link(1, 0)
        try play(seconds: 5)
        let seen = try #require(ben.picture)
        let colours = [seen.colour(x: 80, y: 90), seen.colour(x: 240, y: 90)]
        #expect(colours.contains { $0.resembles(.blue) })
        _ = pair[1].relay.leave(room: "demo", participant: ben.participantID, now: pair.now)
        try play(seconds: 2)
        #expect(film.demands.last == .some(nil))
    }

    @Test("an avatar is missed at the other relay, and shown there once it has come, until it is taken away")
    func avatar() throws {
        let pair = VirtualCascade(["a", "b"])
        let ada = try pair[0].join("Ada", colour: .green)
        let ben = try pair[1].join("Ben", video: .receiveOnly)
        try pair.link(1, 0)
        #expect(pair.run { pair.names(0) == ["Ada", "Ben"] && pair.names(1) == ["Ada", "Ben"] })
        func set(_ avatar: Avatar?) throws {
            try pair[0].act { relay, now in
                try relay.perform(.setAvatar(avatar, participant: ada.participantID), room: "demo", now: now)
                let state = MediaState(camera: false)
                try relay.perform(.setMediaState(state, participant: ada.participantID), room: "demo", now: now)
            }
            pair.run(for: .seconds(2))
        }
        try set(.red)
        let relay = pair[1].relay
        let missing = Relay.MissingAvatar(participant: ada.participantID, digest: Avatar.red.digest)
        #expect(relay.missingAvatars(inRoom: "demo", from: "a") == [missing])
        let link = try #require(pair.room(1)?.links["a"]?.name)
        #expect(pair[0].relay.avatarFile(ofParticipant: ada.participantID, forLink: link) == Avatar.red.png)
        #expect(pair[0].relay.avatarFile(ofParticipant: ada.participantID, forLink: "another") == nil)
        relay.receive(.red, ofParticipant: ada.participantID, inRoom: "demo", from: "a", now: pair.now)
        #expect(relay.missingAvatars(inRoom: "demo", from: "a").isEmpty)
        pair.run(for: .seconds(2))
        #expect(try #require(ben.picture).colour(x: 160, y: 90).resembles(.red))
        #expect(relay.state(ofRoom: "demo")?.participants.first { $0.name == "Ada" }?.avatar == true)
        try set(nil)
        #expect(try !#require(ben.picture).colour(x: 160, y: 90).resembles(.red))
    }

    @Test("a call of two gets each other's frames and audio byte by byte across two relays")
    func bytes() throws {
        let pair = VirtualCascade(["a", "b"]) { configuration in
            configuration.forwarding = .auto
            configuration.rateLimits = RateLimits(
                minimum: .kilobits(100), start: .kilobits(900), maximum: .megabits(2))
        }
        let size = VideoDimensions(width: 320, height: 180)
        let ada = try pair[0].join("Ada", colour: .red, dimensions: size)
        let ben = try pair[1].join("Ben", colour: .blue, dimensions: size)
        for client in [ada, ben] { client.recordsFrames = true }
        pair.run(for: .milliseconds(500))
        try pair.link(1, 0)
        pair.run(for: .seconds(8))
        let room = try #require(pair.room(1))
        let participant = try #require(room.participants.first { $0.publicID == ben.participantID })
        let link = try #require(room.forwarding.link(of: participant.id))
        #expect(link.isPassing, "\(link.phase) \(String(describing: link.obstacle))")
        let count = ben.frames.count
        pair.run(for: .seconds(2))
        let got = Array(ben.frames[count...])
        #expect(got.count >= 28, "\(got.count)")
        let sent = ada.sentFrames.map(\.bytes)
        let first = try #require(sent.firstIndex(of: got[0]))
        #expect(Array(sent[first..<min(sent.count, first + got.count)]) == got)
        #expect(ben.decodeFailures == 0)
        let audio = ben.audioPackets.suffix(50).map(\.payload)
        let sentAudio = Set(ada.sentAudio.map { Array($0.readableBytesView) })
        #expect(audio.allSatisfy { sentAudio.contains(Array($0.readableBytesView)) })
    }

    @Test("members of a relay that dies leave, and the others go on")
    func death() throws {
        let pair = VirtualCascade(["a", "b"])
        let ada = try pair[0].join("Ada", colour: .red)
        try pair[0].join("Al", colour: .green)
        try pair[1].join("Ben", colour: .blue)
        pair.run(for: .milliseconds(500))
        try pair.link(1, 0)
        #expect(pair.run { pair.names(0) == ["Ada", "Al", "Ben"] })
        pair.run(for: .seconds(2))
        _ = pair[0].roomEvents()
        pair.kill(1)
        let before = ada.arrivals.count
        #expect(pair.run(until: { pair.names(0) == ["Ada", "Al"] }, limit: .seconds(7)))
        let left = pair[0].roomEvents().contains { if case .participantLeft = $0 { true } else { false } }
        #expect(left)
        #expect(pair[0].relay.links.isEmpty && pair[0].relay.remoteMembers.isEmpty)
        #expect(pair[0].relay.cascadeCounters.lost == 1)
        pair.run(for: .seconds(1))
        #expect(ada.arrivals.count > before + 30)
    }

    @Test("a link ends with the last participant of a relay, and the others see it leave")
    func lastLeaves() throws {
        let (pair, _, ben) = try VirtualCascade.linkedPair()
        #expect(pair.run { pair.names(0) == ["Ada", "Ben"] })
        _ = pair[1].act { relay, now in relay.leave(room: "demo", participant: ben.participantID, now: now) }
        #expect(pair.room(1) == nil && pair[1].relay.links.isEmpty && pair[1].relay.remoteMembers.isEmpty)
        #expect(pair.run(until: { pair.names(0) == ["Ada"] }, limit: .seconds(2)))
    }

    @Test("a link that is made anew takes the place of the one before")
    func again() throws {
        let (pair, ada, _) = try VirtualCascade.linkedPair()
        #expect(pair.run { pair.names(0) == ["Ada", "Ben"] })
        pair.run(for: .seconds(1))
        try pair.link(1, 0)
        #expect(pair.names(0) == ["Ada"])
        #expect(pair.run { pair.names(0) == ["Ada", "Ben"] })
        pair.run(for: .seconds(3))
        #expect(try #require(ada.picture).colour(x: 160, y: 90).resembles(.blue))
        #expect(pair[0].relay.links.count == 1 && pair[1].relay.links.count == 1)
    }

    @Test("pictures cross only if the other side shows them, in the size of its tiles")
    func shownOnly() throws {
        let pair = VirtualCascade(["a", "b"])
        let ada = try pair[0].join("Ada", colour: .red)
        try pair[1].join("Ben", video: nil)
        pair.run(for: .milliseconds(500))
        try pair.link(1, 0)
        pair.run(for: .seconds(2))
        let link = try #require(pair.room(0)?.links["b"])
        #expect(link.outgoing.keys.map(\.content) == [.audio])
        let cy = try pair[1].join("Cy", colour: .green)
        pair.run(for: .seconds(3))
        #expect(Set(link.outgoing.keys.map(\.content)) == [.audio, .camera])
        let id = try #require(pair.room(0)?.localParticipant(publicID: ada.participantID)?.id)
        #expect(pair.room(0)?.relayedTile(of: .camera(id)).width ?? 0 >= 150)
        // Her relay shows her to nobody, and tells her what the other one shows.
        let told = pair[0].relay.state(ofRoom: "demo")?.tiles.first { $0.participant == ada.participantID }
        #expect(told?.width ?? 0 >= 150)
        #expect(cy.picture != nil)
        _ = pair[1].act { relay, now in relay.leave(room: "demo", participant: cy.participantID, now: now) }
        #expect(pair.run(until: { link.outgoing.keys.map(\.content) == [.audio] }, limit: .seconds(8)))
    }

    @Test("names, hands, microphones, cameras and screens are the same at both relays")
    func states() throws {
        let pair = VirtualCascade(["a", "b"])
        let ada = try pair[0].join("Ada", colour: .red) {
            $0.screenShare = .init(direction: .sendOnly)
        }
        let ben = try pair[1].join("Ben", colour: .blue)
        pair.run(for: .milliseconds(500))
        try pair.link(1, 0)
        #expect(pair.run { pair.names(1) == ["Ada", "Ben"] })
        try pair[0].act { relay, now in
            try relay.perform(
                .setMediaState(
                    MediaState(microphone: false, camera: false, hand: true), participant: ada.participantID),
                room: "demo", now: now)
        }
        pair.run(for: .milliseconds(300))
        let told = try #require(pair[1].relay.state(ofRoom: "demo")?.participants.first { $0.name == "Ada" })
        #expect(told.hand && !told.microphone && !told.camera && told.id == ada.participantID)
        ada.screenShare = .green
        pair.run(for: .seconds(4))
        #expect(pair[1].relay.state(ofRoom: "demo")?.participants.first { $0.name == "Ada" }?.screenShare == true)
        #expect(try #require(ben.picture).colour(x: 160, y: 90).resembles(.green))
    }

    @Test("losses on the link are repaired on the link")
    func losses() throws {
        let pair = VirtualCascade(
            ["a", "b"], network: LinkProfile(rate: .unlimited, delay: .milliseconds(20), loss: 0.05))
        let ada = try pair[0].join("Ada", colour: .red)
        let ben = try pair[1].join("Ben", colour: .blue)
        pair.run(for: .milliseconds(500))
        try pair.link(1, 0)
        pair.run(for: .seconds(12))
        let member = try #require(pair.remote("Ada", at: 1))
        let decoded = member.uplink?.framesDecoded ?? 0
        #expect(decoded > 130, "\(decoded) frames of about 165")
        #expect(pair.room(0)?.links["b"]?.peer.statistics(now: pair.now).counters.retransmissions ?? 0 > 3)
        #expect(ada.decodeFailures == 0 && ben.decodeFailures == 0)
    }

    @Test("a link that carries too little holds pictures back, and audio goes on")
    func tooNarrow() throws {
        let pair = VirtualCascade(
            ["a", "b"],
            network: LinkProfile(rate: .fixed(.kilobits(700)), delay: .milliseconds(10), queue: .duration(.seconds(1))))
        for (name, colour) in [("Ada", Colour.red), ("Al", .green), ("Ann", .blue), ("Art", .red)] {
            let client = try pair[0].join(
                name, colour: colour, dimensions: VideoDimensions(width: 320, height: 180),
                rateLimits: RateLimits(minimum: .kilobits(500), start: .kilobits(500), maximum: .kilobits(500)))
            client.pictures = Texture.pictures
        }
        try pair[1].join("Ben", colour: .blue)
        pair.run(for: .milliseconds(500))
        try pair.link(1, 0)
        pair.run(for: .seconds(15))
        #expect(pair[0].relay.cascadeCounters.heldBack > 0)
        let room = try #require(pair.room(1))
        #expect(pair.names(1) == ["Ada", "Al", "Ann", "Art", "Ben"])
        let heard = room.participants.filter {
            $0.remote != nil && (room.audio.state(of: $0.id)?.report?.level.decibelsBelowOverload ?? 127) < 40
        }
        #expect(heard.count == CascadeVoices.limit)
        let shown = room.participants.filter { $0.remote != nil && $0.uplink?.framesDecoded ?? 0 > 20 }
        #expect(!shown.isEmpty)
    }

    @Test("of pictures that are all too large for a link that collapses, the speaker's is held back last")
    func collapse() throws {
        let steps: [LinkRate.Step] = [
            .init(at: .zero, rate: .megabits(5)), .init(at: .seconds(8), rate: .kilobits(60)),
        ]
        let pair = VirtualCascade(
            ["a", "b"],
            network: LinkProfile(rate: .steps(steps), delay: .milliseconds(5), queue: .duration(.seconds(1))))
        for (name, rate) in [("Al", 400.0), ("Ada", 600), ("Ann", 400)] {
            let client = try pair[0].join(
                name, colour: .red, dimensions: VideoDimensions(width: 320, height: 180),
                rateLimits: RateLimits(minimum: .kilobits(rate), start: .kilobits(rate), maximum: .kilobits(rate)))
            client.pictures = Texture.pictures
            client.isSilent = name != "Ada"
        }
        try pair[1].join("Ben", video: .receiveOnly, audio: .receiveOnly)
        pair.run(for: .milliseconds(500))
        try pair.link(1, 0)
        let (room, link) = (try #require(pair.room(0)), try #require(pair.room(0)?.links["b"]))
        func crossing() -> [String] {
            link.outgoing.filter { $0.key.content == .camera && $0.value.isSending }
                .compactMap { room.participant(publicID: $0.key.participant)?.name }.sorted()
        }
        pair.run(for: .seconds(6))
        try #require(crossing() == ["Ada", "Al", "Ann"] && room.activeSpeaker?.name == "Ada")
        #expect(pair.run { crossing().count < 2 })
        #expect(crossing() == ["Ada"])
    }

    @Test("three relays: nothing that came by one link leaves by another")
    func mesh() throws {
        let world = VirtualCascade(["a", "b", "c"])
        let clients = try zip(0..<3, [Colour.red, .green, .blue]).map {
            try world[$0].join("P\($0)", colour: $1)
        }
        world.run(for: .milliseconds(500))
        try world.link(1, 0)
        try world.link(2, 0)
        try world.link(2, 1)
        world.run(for: .seconds(5))
        for index in 0..<3 {
            #expect(world.names(index) == ["P0", "P1", "P2"])
            let links = try #require(world.room(index)?.links.values)
            for link in links {
                #expect(link.outgoing.keys.allSatisfy { $0.participant == clients[index].participantID })
                #expect(link.incoming.count == 2)
            }
        }
        #expect(world.refusals.isEmpty)
        world.kill(2)
        #expect(
            world.run(until: { world.names(0) == ["P0", "P1"] && world.names(1) == ["P0", "P1"] }))
    }

    @Test("rooms that share two relays, and so an address pair, have links of their own, also where packets are lost")
    func severalRooms() throws {
        let pair = VirtualCascade(
            ["a", "b"], network: LinkProfile(rate: .unlimited, delay: .milliseconds(20), loss: 0.1))
        let rooms = (0..<4).map { "room\($0)" }
        for room in rooms {
            try pair[0].join("Ada", room: room, video: nil)
            try pair[1].join("Ben", room: room, video: nil)
        }
        pair.run(for: .milliseconds(500))
        for room in rooms {
            try pair.link(1, 0, room: room)
            try #require(
                pair.run { (0...1).allSatisfy { pair.room($0, room)?.links.values.first?.isConnected == true } },
                "\(room)")
        }
        pair.run(for: .seconds(3))
        for room in rooms {
            for index in 0...1 { #expect(pair.names(index, room) == ["Ada", "Ben"]) }
            let member = try #require(pair.room(0, room)?.participants.first { $0.remote != nil })
            #expect(pair.room(0, room)?.audio.state(of: member.id)?.report != nil, "\(room) is heard")
        }
        // One ends, the others go on.
        let ben = try #require(pair.room(1, rooms[1])?.participants.first { $0.remote == nil })
        _ = pair[1].act { relay, now in relay.leave(room: rooms[1], participant: ben.publicID, now: now) }
        #expect(pair.run(until: { pair.room(0, rooms[1])?.links.isEmpty == true }, limit: .seconds(7)))
        pair.run(for: .seconds(2))
        for room in rooms where room != rooms[1] {
            #expect(pair.room(0, room)?.links.count == 1 && pair.room(1, room)?.links.count == 1)
        }
        #expect(pair[0].relay.cascadeCounters.connected == 4)
    }
}
