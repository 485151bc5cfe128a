import MediaCore
import NIOCore
import RoomAPI
import SDP
import SecureTransport
import Simulation
import Testing

@testable import Conference
@testable import PeerConnection

/// Receivers that hear exactly one other member and are sent that member's own packets, on virtual time.
@Suite struct AudioForwardingTests {
    private func makeCall() -> VirtualCall {
        VirtualCall { $0.forwarding = .auto }
    }

    private func join(_ call: VirtualCall, _ name: String, role: ParticipantRole = .sendAndReceive) throws -> TestClient
    {
        let hears: MediaDirection = role == .watch ? .receiveOnly : .sendAndReceive
        return try call.join(name, video: nil, audio: hears, role: role)
    }

    private func link(_ client: TestClient, _ call: VirtualCall) throws -> AudioForwardingLink {
        let room = try #require(call.relay.rooms["demo"])
        let participant = try #require(room.participant(publicID: client.participantID))
        return try #require(room.audio.state(of: participant.id)).link
    }

    private func isPassed(_ client: TestClient, _ call: VirtualCall) throws -> Bool {
        if case .passing = try link(client, call).phase { true } else { false }
    }

    private func expectWhole(
        _ packets: [ReceivedAudioPacket], longestGap: Duration, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let pairs = zip(packets, packets.dropFirst())
        #expect(pairs.allSatisfy { $1.sequence == $0.sequence + 1 }, sourceLocation: sourceLocation)
        let steps = pairs.map { Int32(bitPattern: $1.rtpTimestamp &- $0.rtpTimestamp) }
        #expect(steps.allSatisfy { $0 >= 960 }, "\(steps.filter { $0 < 960 })", sourceLocation: sourceLocation)
        let gap = pairs.map { $1.arrival - $0.arrival }.max() ?? .zero
        #expect(gap <= longestGap, sourceLocation: sourceLocation)
    }

    @Test("two people in a call get each other's own packets, and nothing is mixed for them")
    func twoInACall() throws {
        let call = makeCall()
        let (ada, ben) = (try join(call, "Ada"), try join(call, "Ben"))
        call.run(for: .seconds(4))
        #expect(try isPassed(ada, call) && isPassed(ben, call))
        let count = ben.audioPackets.count
        call.run(for: .seconds(2))
        let got = ben.audioPackets[count...].map(\.payload)
        #expect(got.count >= 99)
        let first = try #require(ada.sentAudio.firstIndex(of: got[0]))
        let isSame = Array(ada.sentAudio[first..<(first + got.count)]) == got
        #expect(isSame)
        expectWhole(ben.audioPackets, longestGap: .milliseconds(45))
        let snapshot = try #require(call.relay.snapshot(room: "demo", now: call.now))
        #expect(snapshot.forwarding.audioReceivers == 2)
        let downlink = try #require(snapshot.participants.first { $0.id == ben.participantID }?.downlink)
        #expect(downlink.audioForwarding == ada.participantID)
        #expect(downlink.explanation?.contains("The audio is Ada's as it comes") ?? false)
    }

    @Test("a join that never connects ends no forwarding, and one that connects does")
    func unconnected() throws {
        let call = makeCall()
        let (ada, ben) = (try join(call, "Ada"), try join(call, "Ben"))
        call.run(for: .seconds(4))
        #expect(try isPassed(ada, call) && isPassed(ben, call))
        call.remove(try call.join("Nobody", video: nil, overDTLS: true))
        call.run(for: .seconds(3))
        #expect(try isPassed(ada, call) && isPassed(ben, call))
        _ = try join(call, "Cy")
        call.run(for: .seconds(1))
        #expect(try !isPassed(ada, call) && !isPassed(ben, call))
    }

    @Test("timestamps of a stream that is forwarded keep to the clock by which it was mixed")
    func clock() throws {
        let call = makeCall()
        let (_, ben) = (try join(call, "Ada"), try join(call, "Ben"))
        call.run(for: .seconds(8))
        #expect(try isPassed(ben, call))
        let offsets = ben.audioPackets.map { packet in
            let samples = Double(Int32(bitPattern: packet.rtpTimestamp &- ben.audioPackets[0].rtpTimestamp))
            return samples / 48 - (packet.arrival - ben.audioPackets[0].arrival).milliseconds
        }
        let spread = try #require(offsets.max()) - (try #require(offsets.min()))
        #expect(spread <= 25, "\(spread) ms")
    }

    @Test("with levels in packets the speaker is known although nothing is decoded or mixed")
    func rest() throws {
        let call = makeCall()
        let (ada, ben) = (try join(call, "Ada"), try join(call, "Ben"))
        var mixes = 0
        call.jobDuration = { kind in
            if kind == .mix { mixes += 1 }
            return .zero
        }
        func snapshot() throws -> ParticipantSnapshot {
            let room = try #require(call.relay.snapshot(room: "demo", now: call.now))
            return try #require(room.participants.first { $0.id == ada.participantID })
        }
        for client in [ada, ben] { client.toldLevel = AudioLevel(decibelsBelowOverload: 20) }
        call.run(for: .seconds(4))
        #expect(try isPassed(ben, call))
        #expect(mixes > 0)
        mixes = 0
        ben.toldLevel = AudioLevel(decibelsBelowOverload: 127)
        call.run(for: .seconds(2))
        #expect(mixes == 0)
        #expect(try snapshot().isSpeaking)
        #expect(try snapshot().uplink.audioLevel == 20)
        let room = try #require(call.relay.rooms["demo"])
        #expect(room.activeSpeaker?.publicID == ada.participantID)
        ada.toldLevel = AudioLevel(decibelsBelowOverload: 127)
        call.run(for: .seconds(2))
        #expect(try !snapshot().isSpeaking)
        #expect(try snapshot().uplink.audioLevel == 127)
        expectWhole(ben.audioPackets, longestGap: .milliseconds(45))

        // Packets that do not say it are decoded.
        ada.toldLevel = nil
        call.run(for: .seconds(1))
        #expect(mixes > 30)
        #expect(try isPassed(ben, call))
        #expect(try snapshot().uplink.audioLevel < 40)
    }

    @Test(
        "a third voice brings the mix back without a gap, and its leaving the packets",
        arguments: [nil, AudioLevel(decibelsBelowOverload: 20)])
    func thirdVoice(toldLevel: AudioLevel?) throws {
        let call = makeCall()
        let (ada, ben) = (try join(call, "Ada"), try join(call, "Ben"))
        for client in [ada, ben] { client.toldLevel = toldLevel }
        call.run(for: .seconds(4))
        #expect(try isPassed(ben, call))
        let cy = try join(call, "Cy")
        call.run(for: .milliseconds(150))
        #expect(try link(ben, call).phase == .mixed)
        // Ada is heard in the first packet of the mix already: it is not one of silence.
        let first = try #require(ben.audioPackets.last { ada.sentAudio.contains($0.payload) })
        let next = try #require(ben.audioPackets.first { $0.sequence == first.sequence + 1 })
        #expect(next.payload.readableBytes > 20, "\(next.payload.readableBytes)")
        call.run(for: .seconds(3))
        let mixed = try #require(ben.audioPackets.last?.payload)
        #expect(!ada.sentAudio.contains(mixed))
        #expect(call.relay.leave(room: "demo", participant: cy.participantID, now: call.now))
        call.remove(cy)
        call.run(for: .seconds(3))
        #expect(try isPassed(ben, call))
        expectWhole(ben.audioPackets, longestGap: .milliseconds(45))
        #expect(try link(ben, call).switches == 3)
    }

    @Test("a listener to two hears both; a speaker to many is forwarded to all")
    func listeners() throws {
        let call = makeCall()
        let ada = try join(call, "Ada")
        let listeners = [try join(call, "Cy", role: .watch), try join(call, "Di", role: .watch)]
        call.run(for: .seconds(4))
        for listener in listeners { #expect(try isPassed(listener, call)) }
        #expect(try link(ada, call).phase == .mixed)
        let ben = try join(call, "Ben")
        call.run(for: .seconds(4))
        for listener in listeners { #expect(try link(listener, call).phase == .mixed) }
        #expect(try isPassed(ada, call) && isPassed(ben, call))
    }

    @Test("a receiver that loses packets gets the mix, which is encoded for that")
    func loss() throws {
        let call = makeCall()
        let (_, ben) = (try join(call, "Ada"), try join(call, "Ben"))
        call.run(for: .seconds(4))
        #expect(try isPassed(ben, call))
        var random = SeededGenerator(seed: 5)
        call.drops = { _, isDownlink, client in
            isDownlink && client === ben && Int.random(in: 0..<100, using: &random) < 15
        }
        call.run(for: .seconds(12))
        #expect(try link(ben, call).phase == .mixed)
        #expect(try link(ben, call).obstacle == .loss)
    }

    @Test("audio of a higher rate than the receiver is to be sent is mixed")
    func rate() throws {
        let call = makeCall()
        let (ada, ben) = (try join(call, "Ada"), try join(call, "Ben"))
        ada.audioBitRate = .kilobits(128)
        call.run(for: .seconds(5))
        #expect(try link(ben, call).obstacle == .rate)
        #expect(try isPassed(ada, call))
        ada.audioBitRate = .kilobits(32)
        call.run(for: .seconds(4))
        #expect(try isPassed(ben, call))
        let count = ben.audioPackets.count
        ada.audioBitRate = .kilobits(510)
        call.run(for: .seconds(2))
        #expect(try link(ben, call).phase == .mixed)
        // A few had come before it was seen how much they are.
        let large = ben.audioPackets[count...].filter { $0.payload.readableBytes > 300 }
        #expect((1...12).contains(large.count), "\(large.count)")
    }

    @Test("off leaves everybody the mix")
    func off() throws {
        let call = VirtualCall { $0.forwarding = .off }
        let (_, ben) = (try join(call, "Ada"), try join(call, "Ben"))
        call.run(for: .seconds(5))
        #expect(try link(ben, call).phase == .mixed)
    }
}

/// The numbers and timestamps of forwarded packets.
@Suite struct AudioForwardingStreamTests {
    private static let start = MonotonicInstant(nanoseconds: 5_000_000_000)

    /// The packet that a sender makes `index` packets after the first.
    private func packet(_ index: Int64, sequence: Int64? = nil, timestamp: UInt32? = nil, late: Duration = .zero)
        -> ReceivedAudioPacket
    {
        ReceivedAudioPacket(
            payload: ByteBuffer(), rtpTimestamp: timestamp ?? 77_000 &+ UInt32(truncatingIfNeeded: index * 960),
            sequence: sequence ?? 300 + index, level: nil, arrival: Self.start + .milliseconds(20 * index) + late)
    }

    private func makeStream() -> AudioForwardingStream {
        AudioForwardingStream(first: packet(0), as: 40, timestamp: 1000)
    }

    @Test("gaps are kept, and late packets fill them")
    func gaps() throws {
        var stream = makeStream()
        for (index, number) in [(0, 40), (3, 43), (1, 41), (4, 44)] as [(Int64, Int64)] {
            let placed = stream.place(packet(index), sampleCount: 960)
            let place = try #require(placed)
            #expect(place.number == number)
            #expect(place.timestamp == 1000 + UInt32(index * 960))
        }
        #expect(stream.next == 45)
        #expect(stream.end == 1000 + 5 * 960)
    }

    @Test("packets so late that they may have been sent are left out, and so are those from before the first")
    func tooLate() {
        var stream = makeStream()
        func number(_ index: Int64) -> Int64? { stream.place(packet(index), sampleCount: 960)?.number }
        #expect(number(-1) == nil)
        #expect(number(0) == 40)
        #expect(number(100) == 140)
        #expect(number(36) == nil)
        #expect(number(37) == 77)
        #expect(number(37) == nil)
    }

    @Test(
        "a sender whose timestamps or numbers alone go back a little is heard at once",
        arguments: [(0, 48_000), (200, 0)] as [(Int64, UInt32)])
    func stepBack(numbers: Int64, samples: UInt32) throws {
        var stream = makeStream()
        var places: [(number: Int64, timestamp: UInt32)] = []
        for index in 0..<120 as Range<Int64> {
            var sent = packet(index)
            if index >= 100 {
                sent.sequence -= numbers
                sent.rtpTimestamp &-= samples
            }
            let placed = stream.place(sent, sampleCount: 960)
            places.append(try #require(placed))
        }
        let steps = zip(places, places.dropFirst()).map { ($1.number - $0.number, $1.timestamp &- $0.timestamp) }
        #expect(steps.allSatisfy { (1...2).contains($0.0) && $0.1 == 960 })
    }

    @Test("no jump of a sender's numbers or timestamps makes a number come twice, or time go back")
    func restarts() throws {
        var stream = makeStream()
        var numbers: [Int64] = []
        var ends: [UInt32] = []
        var random = SeededGenerator(seed: 3)
        for step in 0..<2000 as Range<Int64> {
            let jumps = Int.random(in: 0..<20, using: &random) == 0
            let received = packet(
                step, sequence: jumps ? .random(in: -40_000...40_000, using: &random) : nil,
                timestamp: jumps ? .random(in: 0 ... .max, using: &random) : nil)
            guard let place = stream.place(received, sampleCount: 960) else { continue }
            numbers.append(place.number)
            ends.append(stream.end)
        }
        #expect(numbers.count > 1800)
        #expect(Set(numbers).count == numbers.count)
        #expect(zip(ends, ends.dropFirst()).allSatisfy { Int32(bitPattern: $1 &- $0) >= 0 })
        // Each jump costs the receiver at most a packet's time, there and back.
        let elapsed = Double(try #require(ends.last) &- 1000) / 48_000
        #expect((40...45).contains(elapsed), "\(elapsed) s")
    }
}
