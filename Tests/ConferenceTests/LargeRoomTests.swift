import AudioMixing
import MediaCore
import MediaFixtures
import RoomAPI
import SDP
import Testing

@testable import Conference

/// One room of three hundred people on eight relays, on virtual time.
@Suite("A room of three hundred on eight relays", .serialized)
struct LargeRoomTests {
    private static let relays = 8
    private static let frameRate = 10

    /// Three people with a camera at each relay, and listeners. Of the two that speak, one is at the first relay, and
    /// one at the last.
    private func fill() throws -> (cascade: VirtualCascade, clients: [[TestClient]]) {
        let cascade = VirtualCascade((0..<Self.relays).map { "relay\($0)" }) { configuration in
            configuration.canvas = VideoDimensions(width: 160, height: 90)
            configuration.frameRate = Self.frameRate
            configuration.maximumEncoders = 1
            configuration.maximumParticipants = 100
            configuration.selfView = .always
        }
        let clients = try (0..<Self.relays).map { relay in
            try (0..<(relay < 4 ? 38 : 37)).map { number in
                let speaks = number == 0 && (relay == 0 || relay == Self.relays - 1)
                let client = try cascade[relay].join(
                    "\(relay)-\(number)", colour: .red, video: number < 3 ? .sendAndReceive : .receiveOnly,
                    audio: speaks ? .sendAndReceive : .receiveOnly, dimensions: VideoDimensions(width: 64, height: 36))
                client.frameRate = Self.frameRate
                client.isSilent = true
                return client
            }
        }
        cascade.run(for: .milliseconds(500))
        for maker in 1..<Self.relays {
            for other in 0..<maker { try cascade.link(maker, other) }
        }
        cascade[0].relay.setConductedRooms(["demo": 1])
        return (cascade, clients)
    }

    private func isTogether(_ cascade: VirtualCascade, _ relays: [Int]) -> Bool {
        relays.allSatisfy { cascade.room($0)?.participants.count == 300 }
    }

    private func speaker(at relay: Int, of cascade: VirtualCascade) -> String? {
        cascade.room(relay)?.activeSpeaker?.publicID
    }

    /// The time for which the relays differ when the speaker changes: from the first relay that shows the new one to
    /// the last.
    private func spread(of cascade: VirtualCascade, to id: String) throws -> Duration {
        func followers() -> Int { (0..<Self.relays).count { speaker(at: $0, of: cascade) == id } }
        try #require(cascade.run(until: { followers() > 0 }, limit: .seconds(5)))
        let first = cascade.now
        try #require(cascade.run(until: { followers() == Self.relays }, limit: .seconds(5)))
        return cascade.now - first
    }

    @Test("all see the same places and, within 300 ms, the same speaker; others hardly notice that a relay dies")
    func room() async throws {
        let (cascade, clients) = try fill()
        let all = Array(0..<Self.relays)
        // The call takes long, and other tests wait for the thread.
        await Task.yield()
        try #require(cascade.run(until: { isTogether(cascade, all) }, limit: .seconds(20)))
        let speakers = [clients[0][0], clients[Self.relays - 1][0]]
        for turn in 0..<2 {
            await Task.yield()
            for (index, speaker) in speakers.enumerated() { speaker.isSilent = index != turn % 2 }
            let spread = try spread(of: cascade, to: speakers[turn % 2].participantID)
            #expect(spread <= .milliseconds(300), "turn \(turn)")
            cascade.run(for: .seconds(1))
            let places = all.map { cascade.room($0)?.stageMembers.map(\.publicID) }
            #expect(Set(places).count == 1 && places[0]?.count == 300)
        }

        let dead = 3
        let staying = all.filter { $0 != dead }
        let seen = staying.flatMap { clients[$0] }.map { ($0, $0.arrivals.count) }
        cascade.kill(dead)
        cascade.run(for: .seconds(1))
        await Task.yield()
        for client in clients[dead] {
            try cascade[(dead + 1) % Self.relays].join(
                client.name, colour: .red, video: .receiveOnly, audio: .receiveOnly, returningAs: client.participantID,
                adjustRequest: { $0.rejoiningAs = client.participantID })
        }
        #expect(cascade.run(until: { isTogether(cascade, staying) }, limit: .seconds(3)))
        await Task.yield()
        // By then the links to the dead one have ended.
        cascade.run(for: .seconds(4))
        #expect(isTogether(cascade, staying))
        let interval = Duration.seconds(1) / Self.frameRate
        for (client, count) in seen {
            let arrivals = client.arrivals.dropFirst(max(0, count - 1))
            let gap = zip(arrivals, arrivals.dropFirst()).map { $1 - $0 }.max() ?? .seconds(99)
            #expect(gap <= interval + .milliseconds(200), "\(client.name)")
        }
    }
}
