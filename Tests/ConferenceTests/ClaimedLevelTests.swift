import MediaCore
import Testing

@testable import Conference

/// Levels that senders write into their packets (RFC 6464), where audio is forwarded, on virtual time.
@Suite struct ClaimedLevelTests {
    private let call: VirtualCall
    private let ada: TestClient
    private let ben: TestClient

    init() throws {
        call = VirtualCall { $0.forwarding = .auto }
        (ada, ben) = (try call.join("Ada", video: nil), try call.join("Ben", video: nil))
        be(ada, audible: false, claiming: 127)
        be(ben, audible: false, claiming: 127)
    }

    private func be(_ client: TestClient, audible: Bool, claiming level: UInt8) {
        client.isSilent = !audible
        client.toldLevel = AudioLevel(decibelsBelowOverload: level)
    }

    private var room: Room { get throws { try #require(call.relay.rooms["demo"]) } }

    private func snapshot(of client: TestClient) throws -> ParticipantSnapshot {
        let room = try #require(call.relay.snapshot(room: "demo", now: call.now))
        return try #require(room.participants.first { $0.id == client.participantID })
    }

    private func expectIsForwarded(_ client: TestClient) throws {
        #expect(try snapshot(of: client).downlink.audioForwarding != nil)
    }

    @Test(
        "a sender of silence that claims loud audio never becomes the speaker, from the start or later",
        arguments: [0, 5])
    func liar(begins: Int) throws {
        call.run(for: .seconds(begins))
        be(ada, audible: false, claiming: 5)
        for _ in 0..<100 {
            call.run(for: .milliseconds(100))
            #expect(try room.activeSpeaker == nil)
            #expect(try !snapshot(of: ada).isSpeaking)
        }
        #expect(try snapshot(of: ada).uplink.audioLevelRefuted)
        #expect(try snapshot(of: ada).uplink.audioLevel > 100)
        try expectIsForwarded(ben)
        // An honest one is chosen beside them, and the packets are forwarded all the same.
        be(ben, audible: true, claiming: 15)
        call.run(for: .seconds(2))
        #expect(try room.activeSpeaker?.publicID == ben.participantID)
        #expect(try !snapshot(of: ben).uplink.audioLevelRefuted)
        try expectIsForwarded(ada)
    }

    @Test("a silent sender that still claims loud audio gives way to another within 9 s")
    func laterLiar() throws {
        be(ada, audible: true, claiming: 15)
        call.run(for: .seconds(6))
        #expect(try room.activeSpeaker?.publicID == ada.participantID)
        be(ada, audible: false, claiming: 15)
        be(ben, audible: true, claiming: 18)
        call.run(for: .seconds(9))
        #expect(try snapshot(of: ada).uplink.audioLevelRefuted)
        #expect(try room.activeSpeaker?.publicID == ben.participantID)
    }

    @Test("honest speakers are chosen as soon as by decoded levels, and little is decoded for it")
    func honest() throws {
        var mixes = 0
        call.jobDuration = { kind in
            if kind == .mix { mixes += 1 }
            return .zero
        }
        call.run(for: .seconds(6))
        try expectIsForwarded(ada)
        mixes = 0
        for turn in 0..<10 {
            let (speaker, listener) = turn.isMultiple(of: 2) ? (ada, ben) : (ben, ada)
            be(speaker, audible: true, claiming: 15)
            be(listener, audible: false, claiming: 127)
            var wait = Duration.zero
            while try room.activeSpeaker?.publicID != speaker.participantID, wait < .seconds(6) {
                call.run(for: .milliseconds(20))
                wait += .milliseconds(20)
            }
            // 600 ms of voice count, except any that came before the other had been silent for 700 ms.
            #expect(wait <= .milliseconds(1050), "turn \(turn): \(wait)")
            call.run(for: .seconds(6) - wait)
        }
        #expect(try !snapshot(of: ada).uplink.audioLevelRefuted && !snapshot(of: ben).uplink.audioLevelRefuted)
        try expectIsForwarded(ada)
        // Out of 3000 ticks.
        #expect(mixes < 600, "\(mixes)")
    }
}
