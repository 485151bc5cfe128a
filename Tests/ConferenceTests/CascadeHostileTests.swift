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

/// Messages, offers and datagrams that no relay sends.
@Suite("Links between relays and garbage")
struct CascadeHostileTests {
    @Test("a message that no relay sends is refused and changes nothing")
    func hostileMessages() throws {
        let (pair, _, _) = try VirtualCascade.linkedPair()
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
        #expect(pair[0].relay.cascadeCounters.refused > 5)
        // More messages than a relay sends are refused; the link goes on with the next one.
        var flood = CascadeState()
        flood.sequence = 1_500_000
        let refusals = (0..<300).count { _ in
            (try? pair[0].relay.receive(flood, room: "demo", from: "b", link: link.name, now: pair.now)) == nil
        }
        #expect((195...210).contains(refusals), "\(refusals)")
        pair.run(for: .seconds(2))
        var vast = CascadeState()
        vast.sequence = 2_000_000
        vast.wants = [.init(source: own.source, width: .max, height: .max)]
        vast.members = (0..<10_000).map { index in
            .init(
                id: "m\(index)", name: "x", role: .sendAndReceive, accessRole: .presenter, sendsAudio: false,
                sendsVideo: false, sharesScreen: false, microphone: false, camera: false, hand: false, muted: false,
                cameraOff: false, moves: .max)
        }
        try pair[0].relay.receive(vast, room: "demo", from: "b", link: link.name, now: pair.now)
        #expect(link.members.count == pair[0].relay.configuration.maximumParticipants)
    }

    @Test("offers that no relay makes are refused")
    func hostileOffers() throws {
        let pair = VirtualCascade(["a", "b"])
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
            offer.link = "link\(index)"
            offer.usernameFragment = "fragment\(index)"
            _ = try pair[0].relay.answerLink(room: "demo", from: "r\(index)", offer: offer, now: pair.now)
        }
        #expect(throws: CascadeError.tooManyLinks(limit: 7)) {
            try pair[0].relay.answerLink(room: "demo", from: "r7", offer: good, now: pair.now)
        }
        var again = good
        again.link = "link3"
        #expect(throws: CascadeError.isKnown) {
            try pair[0].relay.answerLink(room: "demo", from: "r3", offer: again, now: pair.now)
        }
        // None of them connects.
        #expect(pair.run(until: { pair[0].relay.links.isEmpty }, limit: .seconds(12)))
    }

    @Test("garbage from a relay's address disturbs nobody")
    func garbage() throws {
        let pair = VirtualCascade(["a", "b"])
        let ada = try pair[0].join("Ada", colour: .red)
        try pair[1].join("Ben", colour: .blue)
        pair.run(for: .milliseconds(500))
        try pair.link(1, 0)
        pair.run(for: .seconds(3))
        var random = SeededGenerator(seed: 3)
        let before = ada.arrivals.count
        for _ in 0..<500 {
            var bytes = (0..<Int.random(in: 1...400, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            bytes[0] = [0x80, 0x81, 0x90, 0x16, 0x00, 0x01].randomElement(using: &random) ?? 0
            pair[0].inject(ByteBuffer(bytes: bytes), from: pair.sites[1].address)
            pair.run(for: .milliseconds(4))
        }
        #expect(ada.arrivals.count > before + 25)
        #expect(pair.names(0) == ["Ada", "Ben"])
        #expect(try #require(ada.picture).colour(x: 160, y: 90).resembles(.blue))
    }

    /// A member at the first relay, a second of whose pictures have begun to cross, with its next pictures.
    private func sender(
        _ name: String, _ pair: VirtualCascade, filler: Int
    ) throws -> (client: TestClient, play: (_ seconds: Int) throws -> Void) {
        let client = try pair[0].join(
            name, audio: nil,
            rateLimits: RateLimits(minimum: .megabits(40), start: .megabits(40), maximum: .megabits(40)))
        return (
            client,
            { seconds in
                for _ in 0..<seconds {
                    var pictures = try SkippedPictures(dimensions: VideoDimensions(width: 160, height: 96))
                    for _ in 0..<15 {
                        client.peer.sendVideo(
                            pictures.next(filler: filler), captureTime: pair.now, targetTime: pair.now, now: pair.now)
                        pair.run(for: .nanoseconds(1_000_000_000 / 15))
                    }
                }
            }
        )
    }

    private static let narrow = LinkProfile(
        rate: .fixed(.megabits(3)), delay: .milliseconds(10), queue: .duration(.seconds(1)))

    @Test("a frame that does not end is cut off on a link, and nobody else's picture is held back")
    func endlessFrame() throws {
        let pair = VirtualCascade(["a", "b"], network: Self.narrow)
        let mallory = try sender("Mallory", pair, filler: 500)
        for (name, colour) in [("Ada", Colour.red), ("Al", .green)] { try pair[0].join(name, colour: colour) }
        try pair[1].join("Ben", video: .receiveOnly)
        pair.run(for: .milliseconds(500))
        try pair.link(1, 0)
        try mallory.play(4)
        func decoded(_ name: String) -> UInt64 { pair.remote(name, at: 1)?.uplink?.framesDecoded ?? 0 }
        let before = ["Ada", "Al", "Mallory"].map(decoded)
        try #require(before.allSatisfy { $0 > 20 }, "\(before)")
        var pictures = try SkippedPictures(dimensions: VideoDimensions(width: 160, height: 96))
        mallory.client.peer.sendVideo(
            pictures.next(filler: 8_000_000), captureTime: pair.now, targetTime: pair.now, now: pair.now)
        let link = try #require(pair.room(0)?.links["b"])
        for _ in 0..<20 {
            pair.run(for: .milliseconds(100))
            #expect(link.peer.backlog(now: pair.now).sent < .milliseconds(1500))
        }
        for (name, count) in zip(["Ada", "Al"], before) { #expect(decoded(name) >= count + 28, "\(name)") }
        #expect(link.picturesHeld == 1)
        // She comes back with the first keyframe after she was held back.
        let then = decoded("Mallory")
        try mallory.play(4)
        #expect(decoded("Mallory") > then + 15)
    }

    @Test("a link that cannot carry even its last picture does not fall behind more and more")
    func lastPicture() throws {
        let pair = VirtualCascade(["a", "b"], network: Self.narrow)
        let ada = try sender("Ada", pair, filler: 40_000)
        try pair[1].join("Ben", video: .receiveOnly)
        pair.run(for: .milliseconds(500))
        try pair.link(1, 0)
        for second in 0..<12 {
            try ada.play(1)
            let link = try #require(pair.room(0)?.links["b"])
            #expect(link.peer.backlog(now: pair.now).sent < .milliseconds(1500), "after \(second) s")
        }
        let decoded = try #require(pair.remote("Ada", at: 1)?.uplink).framesDecoded
        #expect(decoded > 5, "\(decoded) frames, with gaps")
    }
}
