import AudioMixing
import CongestionControl
import LinkEmulation
import MediaCore
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
    private func makePair(
        network: LinkProfile = LinkProfile(rate: .unlimited, delay: .milliseconds(5)),
        configure: (inout RelayConfiguration) -> Void = { _ in }
    ) -> VirtualCascade {
        VirtualCascade(["a", "b"], network: network, configure: configure)
    }

    private func names(_ room: Room?) -> [String] { (room?.participants.map(\.name) ?? []).sorted() }

    private func remote(_ name: String, _ room: Room?) throws -> Participant {
        try #require(room?.participants.first { $0.name == name && $0.remote != nil })
    }

    @Test("everybody sees and hears everybody")
    func together() throws {
        let pair = makePair()
        let ada = try pair[0].join("Ada", colour: .red)
        let ben = try pair[1].join("Ben", colour: .green)
        let cy = try pair[1].join("Cy", colour: .blue)
        pair.run(for: .seconds(1))
        try pair.link(1, 0)
        pair.run(for: .seconds(5))
        #expect(names(pair.room(0)) == ["Ada", "Ben", "Cy"])
        #expect(names(pair.room(1)) == ["Ada", "Ben", "Cy"])
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
        for (name, room) in [("Ben", pair.room(0)), ("Cy", pair.room(0)), ("Ada", pair.room(1))] {
            let member = try remote(name, room)
            let level = try #require(room?.audio.state(of: member.id)?.report?.level)
            #expect(level.decibelsBelowOverload < 40, "\(name) is heard at -\(level.decibelsBelowOverload) dB")
        }
        #expect(pair.refusals.isEmpty)
        #expect(pair[0].relay.cascadeCounters.packets > 100)
        // The snapshot of a relay has its own participants alone.
        #expect(pair[0].relay.snapshot(room: "demo", now: pair.now)?.participants.map(\.name) == ["Ada"])
        #expect(pair[0].relay.state(ofRoom: "demo")?.participants.count == 3)
    }

    @Test("a call of two gets each other's frames and audio byte by byte across two relays")
    func bytes() throws {
        let pair = makePair { configuration in
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
        let pair = makePair()
        let ada = try pair[0].join("Ada", colour: .red)
        try pair[0].join("Al", colour: .green)
        try pair[1].join("Ben", colour: .blue)
        pair.run(for: .milliseconds(500))
        try pair.link(1, 0)
        #expect(pair.run { names(pair.room(0)) == ["Ada", "Al", "Ben"] })
        pair.run(for: .seconds(2))
        _ = pair[0].roomEvents()
        pair.kill(1)
        let before = ada.arrivals.count
        #expect(pair.run(until: { names(pair.room(0)) == ["Ada", "Al"] }, limit: .seconds(7)))
        let left = pair[0].roomEvents().contains { if case .participantLeft = $0 { true } else { false } }
        #expect(left)
        #expect(pair[0].relay.links.isEmpty && pair[0].relay.remoteMembers.isEmpty)
        #expect(pair[0].relay.cascadeCounters.lost == 1)
        pair.run(for: .seconds(1))
        #expect(ada.arrivals.count > before + 30)
    }

    @Test("a link ends with the last participant of a relay, and the others see it leave")
    func lastLeaves() throws {
        let pair = makePair()
        try pair[0].join("Ada", colour: .red)
        let ben = try pair[1].join("Ben", colour: .blue)
        pair.run(for: .milliseconds(500))
        try pair.link(1, 0)
        #expect(pair.run { names(pair.room(0)) == ["Ada", "Ben"] })
        _ = pair[1].act { relay, now in relay.leave(room: "demo", participant: ben.participantID, now: now) }
        #expect(pair.room(1) == nil && pair[1].relay.links.isEmpty && pair[1].relay.remoteMembers.isEmpty)
        #expect(pair.run(until: { names(pair.room(0)) == ["Ada"] }, limit: .seconds(2)))
    }

    @Test("a link that is made anew takes the place of the one before")
    func again() throws {
        let pair = makePair()
        let ada = try pair[0].join("Ada", colour: .red)
        try pair[1].join("Ben", colour: .blue)
        pair.run(for: .milliseconds(500))
        try pair.link(1, 0)
        #expect(pair.run { names(pair.room(0)) == ["Ada", "Ben"] })
        pair.run(for: .seconds(1))
        try pair.link(1, 0)
        #expect(names(pair.room(0)) == ["Ada"])
        #expect(pair.run { names(pair.room(0)) == ["Ada", "Ben"] })
        pair.run(for: .seconds(3))
        #expect(try #require(ada.picture).colour(x: 160, y: 90).resembles(.blue))
        #expect(pair[0].relay.links.count == 1 && pair[1].relay.links.count == 1)
    }

    @Test("pictures cross only if the other side shows them, in the size of its tiles")
    func shownOnly() throws {
        let pair = makePair()
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
        #expect(cy.picture != nil)
        _ = pair[1].act { relay, now in relay.leave(room: "demo", participant: cy.participantID, now: now) }
        #expect(pair.run(until: { link.outgoing.keys.map(\.content) == [.audio] }, limit: .seconds(8)))
    }

    @Test("names, hands, microphones, cameras and screens are the same at both relays")
    func states() throws {
        let pair = makePair()
        let ada = try pair[0].join("Ada", colour: .red) {
            $0.screenShare = .init(direction: .sendOnly)
        }
        let ben = try pair[1].join("Ben", colour: .blue)
        pair.run(for: .milliseconds(500))
        try pair.link(1, 0)
        #expect(pair.run { names(pair.room(1)) == ["Ada", "Ben"] })
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
        let pair = makePair(network: LinkProfile(rate: .unlimited, delay: .milliseconds(20), loss: 0.05))
        let ada = try pair[0].join("Ada", colour: .red)
        let ben = try pair[1].join("Ben", colour: .blue)
        pair.run(for: .milliseconds(500))
        try pair.link(1, 0)
        pair.run(for: .seconds(12))
        let room = try #require(pair.room(1))
        let member = try remote("Ada", room)
        let decoded = member.uplink?.framesDecoded ?? 0
        #expect(decoded > 130, "\(decoded) frames of about 165")
        let link = try #require(room.links["a"])
        #expect(link.peer.statistics(now: pair.now).video.packetsLost >= 0)
        #expect(pair.room(0)?.links["b"]?.peer.statistics(now: pair.now).counters.retransmissions ?? 0 > 3)
        #expect(ada.decodeFailures == 0 && ben.decodeFailures == 0)
    }

    @Test("a link that carries too little holds pictures back, and audio goes on")
    func tooNarrow() throws {
        let pair = makePair(
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
        #expect(names(room) == ["Ada", "Al", "Ann", "Art", "Ben"])
        let heard = room.participants.filter {
            $0.remote != nil && (room.audio.state(of: $0.id)?.report?.level.decibelsBelowOverload ?? 127) < 40
        }
        #expect(heard.count == CascadeVoices.limit)
        let shown = room.participants.filter { $0.remote != nil && $0.uplink?.framesDecoded ?? 0 > 20 }
        #expect(!shown.isEmpty)
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
            #expect(names(world.room(index)) == ["P0", "P1", "P2"])
            let links = try #require(world.room(index)?.links.values)
            for link in links {
                #expect(link.outgoing.keys.allSatisfy { $0.participant == clients[index].participantID })
                #expect(link.incoming.count == 2)
            }
        }
        #expect(world.refusals.isEmpty)
        world.kill(2)
        #expect(
            world.run(until: { names(world.room(0)) == ["P0", "P1"] && names(world.room(1)) == ["P0", "P1"] }))
    }

    @Test("a message that no relay sends is refused and changes nothing")
    func hostileMessages() throws {
        let pair = makePair()
        try pair[0].join("Ada", colour: .red)
        try pair[1].join("Ben", colour: .blue)
        pair.run(for: .milliseconds(500))
        try pair.link(1, 0)
        pair.run(for: .seconds(2))
        let link = try #require(pair.room(0)?.links["b"])
        let streams = link.incoming
        let own = try #require(link.outgoing.values.first?.stream)
        let ben = try #require(link.members.keys.first)
        let theirs = try #require(streams.values.first)
        func refused(_ change: (inout CascadeState) -> Void) {
            var state = CascadeState()
            state.sequence = 1_000_000
            state.streams = Array(streams.values)
            change(&state)
            #expect(throws: CascadeError.self) {
                try pair[0].relay.receive(state, room: "demo", from: "b", link: link.name, now: pair.now)
            }
            #expect(link.incoming == streams)
            #expect(link.members[ben] != nil)
        }
        refused { $0.streams[0].line = own.line }
        refused { $0.streams[0].line = -2 }
        refused { $0.streams[0].line = .max }
        refused { $0.streams[0].line = 0 }
        refused { $0.streams[0].ssrc = own.ssrc }
        refused { $0.streams[0].ssrc = 0 }
        refused { $0.streams.append($0.streams[0]) }
        refused { state in
            state.streams = (0..<10_000).map { index in
                var stream = theirs
                stream.line = index
                return stream
            }
        }
        #expect(throws: CascadeError.noSuchLink) {
            try pair[0].relay.receive(CascadeState(), room: "demo", from: "b", link: "other", now: pair.now)
        }
        #expect(throws: CascadeError.noSuchLink) {
            try pair[0].relay.receive(CascadeState(), room: "demo", from: "c", link: link.name, now: pair.now)
        }
        // An old message is no mistake: it came late.
        var old = CascadeState()
        old.sequence = 1
        try pair[0].relay.receive(old, room: "demo", from: "b", link: link.name, now: pair.now)
        #expect(link.members[ben] != nil)
        var vast = CascadeState()
        vast.sequence = 2_000_000
        vast.wants = [.init(source: own.source, width: .max, height: .max)]
        vast.members = (0..<10_000).map { index in
            .init(
                id: "m\(index)", name: "x", role: .sendAndReceive, accessRole: .presenter, sendsAudio: false,
                sendsVideo: false, sharesScreen: false, microphone: false, camera: false, hand: false, muted: false,
                cameraOff: false)
        }
        try pair[0].relay.receive(vast, room: "demo", from: "b", link: link.name, now: pair.now)
        #expect(link.members.count == pair[0].relay.configuration.maximumParticipants)
    }

    @Test("offers that no relay makes are refused")
    func hostileOffers() throws {
        let pair = makePair()
        try pair[0].join("Ada", colour: .red)
        try pair[1].join("Ben", colour: .blue)
        pair.run(for: .milliseconds(500))
        let good = try pair[1].relay.offerLink(room: "demo")
        func refused(_ change: (inout CascadeOffer) -> Void) {
            var offer = good
            change(&offer)
            #expect(throws: CascadeError.self) {
                try pair[0].relay.answerLink(room: "demo", from: "b", offer: offer, now: pair.now)
            }
            #expect(pair[0].relay.links.isEmpty)
        }
        refused { $0.version = 2 }
        refused { $0.fingerprint = "00:11" }
        refused { $0.usernameFragment = "" }
        refused { $0.password = "short" }
        refused { $0.link = String(repeating: "x", count: 1000) }
        refused { $0.reporter = 0 }
        #expect(throws: CascadeError.noSuchRoom) {
            try pair[0].relay.answerLink(room: "other", from: "b", offer: good, now: pair.now)
        }
        for index in 0..<Relay.maximumLinksOfRoom {
            var offer = good
            offer.usernameFragment = "fragment\(index)"
            _ = try pair[0].relay.answerLink(room: "demo", from: "r\(index)", offer: offer, now: pair.now)
        }
        #expect(throws: CascadeError.tooManyLinks(limit: 7)) {
            try pair[0].relay.answerLink(room: "demo", from: "r7", offer: good, now: pair.now)
        }
        // None of them connects.
        #expect(pair.run(until: { pair[0].relay.links.isEmpty }, limit: .seconds(12)))
    }

    @Test("garbage from a relay's address disturbs nobody")
    func garbage() throws {
        let pair = makePair()
        let ada = try pair[0].join("Ada", colour: .red)
        try pair[1].join("Ben", colour: .blue)
        pair.run(for: .milliseconds(500))
        try pair.link(1, 0)
        pair.run(for: .seconds(3))
        var random = SeededGenerator(seed: 3)
        let before = ada.arrivals.count
        for _ in 0..<500 {
            var bytes = (0..<Int.random(in: 1...400, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
            bytes[0] = [0x80, 0x81, 0x90, 0x16, 0x00, 0x01].randomElement(using: &random) ?? 0
            pair[0].inject(ByteBuffer(bytes: bytes), from: pair.sites[1].address)
            pair.run(for: .milliseconds(4))
        }
        #expect(ada.arrivals.count > before + 25)
        #expect(names(pair.room(0)) == ["Ada", "Ben"])
        #expect(try #require(ada.picture).colour(x: 160, y: 90).resembles(.blue))
    }

    @Test("a participant of another relay is controlled there")
    func control() throws {
        let pair = makePair()
        try pair[0].join("Ada", colour: .red)
        let ben = try pair[1].join("Ben", colour: .blue)
        pair.run(for: .milliseconds(500))
        try pair.link(1, 0)
        #expect(pair.run { names(pair.room(0)) == ["Ada", "Ben"] })
        #expect(throws: RoomControlError.atAnotherRelay(participant: ben.participantID, relay: "b")) {
            try pair[0].act { relay, now in
                try relay.perform(
                    .setMediaState(MediaState(microphone: false), participant: ben.participantID), room: "demo",
                    now: now)
            }
        }
        let hasLeft = pair[0].act { relay, now in
            relay.leave(room: "demo", participant: ben.participantID, now: now)
        }
        #expect(!hasLeft)
        // A layout may name them.
        try pair[0].act { relay, now in
            try relay.perform(
                .setLayout(RoomLayout(.pinned(participant: ben.participantID))), room: "demo", now: now)
        }
    }
}

@Suite("The voices that cross")
struct CascadeVoicesTests {
    private func level(_ decibels: UInt8) -> AudioLevel { AudioLevel(decibelsBelowOverload: decibels) }

    @Test("are the three loudest, with a hold of half a second and a margin of 6 dB")
    func loudest() {
        var voices = CascadeVoices()
        var now = MonotonicInstant.zero
        func step(_ levels: [UInt64: UInt8]) -> Set<UInt64> {
            defer { now = now + .milliseconds(20) }
            var chosen: Set<UInt64> = []
            for (id, decibels) in levels.sorted(by: { $0.key < $1.key })
            where voices.observe(level(decibels), of: ParticipantID(rawValue: id), now: now) { chosen.insert(id) }
            return chosen
        }
        for _ in 0..<10 { #expect(step([1: 30, 2: 32, 3: 34, 4: 60]) == [1, 2, 3]) }
        // Louder, but not for long enough, and then not by enough.
        #expect(step([1: 30, 2: 32, 3: 34, 4: 20]) == [1, 2, 3])
        for _ in 0..<60 { _ = step([1: 30, 2: 32, 3: 34, 4: 31]) }
        #expect(step([1: 30, 2: 32, 3: 34, 4: 31]).contains(4) == false)
        for _ in 0..<30 { _ = step([1: 30, 2: 32, 3: 34, 4: 10]) }
        #expect(step([1: 30, 2: 32, 3: 34, 4: 10]) == [1, 2, 4])
        // A voice that sends nothing any more gives its place up.
        for _ in 0..<100 { _ = step([1: 30, 2: 32, 3: 34]) }
        #expect(step([1: 30, 2: 32, 3: 34]) == [1, 2, 3])
    }
}
