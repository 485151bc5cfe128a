import AudioMixing
import MediaCore
import NIOCore
import RTP
import Testing

@testable import Conference
@testable import PeerConnection

/// A room's audio by itself: no connection, no socket, no sleep.
@Suite struct AudioPlaneTests {
    private static let start = MonotonicInstant(nanoseconds: 1_000_000_000)
    private static let frame = Duration.milliseconds(20)
    private let ada = ParticipantID(rawValue: 1)
    private let ben = ParticipantID(rawValue: 2)
    private let cem = ParticipantID(rawValue: 3)

    private func makePlane(forwarding: ForwardingMode = .off, members: [ParticipantID]) -> AudioPlane {
        var configuration = RelayConfiguration()
        configuration.forwarding = forwarding
        let plane = AudioPlane(
            room: "room", configuration: configuration, queue: JobQueueID(rawValue: 1), now: Self.start)
        for id in members { plane.setStreams(of: id, sendsAudio: true, hearsMix: true) }
        return plane
    }

    private func packet(_ sequence: Int64, level: Int = 20, now: MonotonicInstant) throws -> ReceivedAudioPacket {
        let encoder = try OpusEncoder()
        let payload = try encoder.encode([Float](repeating: 0.1, count: AudioFormat.frameSampleCount))
        return ReceivedAudioPacket(
            payload: payload, rtpTimestamp: UInt32(sequence * 960), sequence: sequence,
            level: AudioLevel(decibelsBelowOverload: UInt8(level), isVoice: true), arrival: now)
    }

    /// Runs a job that the plane handed out.
    private func finish(_ job: Job, of plane: AudioPlane, now: MonotonicInstant) throws -> [AudioPlane.Mix] {
        guard case .mixed(_, let ticks) = job.run(clock: { now }).output else { throw CancellationError() }
        return plane.complete(ticks, now: now)
    }

    @Test("each tick makes a packet for each receiver, and one job runs at a time")
    func ticks() throws {
        let plane = makePlane(members: [ada, ben])
        let job = try #require(plane.wake(losses: { _ in 0 }, now: Self.start))
        #expect(plane.wake(losses: { _ in 0 }, now: Self.start + Self.frame) == nil)
        let mixes = try finish(job, of: plane, now: Self.start + Self.frame)
        #expect(mixes.count == 1)
        #expect(Set(mixes[0].packets.map(\.receiver)).isSubset(of: [ada, ben]))
        #expect(Set(mixes[0].tick.output.packets.keys) == [ada, ben])
        #expect(plane.wake(losses: { _ in 0 }, now: Self.start + Self.frame) != nil)
    }

    @Test("a job catches up with at most a tenth of a second; earlier missed audio is not mixed")
    func stall() throws {
        let plane = makePlane(members: [ada])
        func mixes(after ticks: Int64) throws -> Int {
            let now = Self.start + Self.frame * ticks
            let job = try #require(plane.wake(losses: { _ in 0 }, now: now))
            return try finish(job, of: plane, now: now).count
        }
        #expect(try mixes(after: 0) == 1)
        #expect(try mixes(after: 5) == 5)
        #expect(plane.lateTicks == 4)
        #expect(try mixes(after: 105) == 1)
    }

    @Test("while a job runs for long, no more ticks wait than the next one catches up with")
    func hangs() throws {
        let plane = makePlane(members: [ada])
        let job = try #require(plane.wake(losses: { _ in 0 }, now: Self.start))
        for tick in 1...100 as ClosedRange<Int64> {
            #expect(plane.wake(losses: { _ in 0 }, now: Self.start + Self.frame * tick) == nil)
        }
        #expect(plane.lateTicks == 95)
        let now = Self.start + Self.frame * 100
        _ = try finish(job, of: plane, now: now)
        let next = try #require(plane.wake(losses: { _ in 0 }, now: now))
        #expect(try finish(next, of: plane, now: now).count == 5)
        #expect(plane.lateTicks == 99)
    }

    @Test("a packet is forwarded only to a receiver that hears its sender alone, and to nobody while several are heard")
    func forwarding() throws {
        let plane = makePlane(forwarding: .auto, members: [ada, ben, cem])
        var now = Self.start
        var sequence: Int64 = 0
        func run(for duration: Duration) throws -> Int {
            var forwarded = 0
            let end = now + duration
            while now < end {
                for id in [ada, ben] where plane.state(of: id) != nil {
                    for item in plane.insert(try packet(sequence, now: now), from: id, now: now) {
                        plane.didForward(to: item.receiver)
                        forwarded += 1
                    }
                }
                if let job = plane.wake(losses: { _ in 0 }, now: now) { _ = try finish(job, of: plane, now: now) }
                sequence += 1
                now += Self.frame
            }
            return forwarded
        }
        #expect(try run(for: .seconds(4)) == 0)
        plane.remove(cem)
        #expect(try run(for: .seconds(4)) > 50)
        #expect(plane.forwardingCount == 2 && plane.packetsForwarded > 50)
        plane.remove(ben)
        #expect(plane.forwardingCount <= 1)
    }

    @Test("a burst of large packets is not forwarded, although the next tick comes only after it")
    func burst() throws {
        let plane = makePlane(forwarding: .auto, members: [ada, ben])
        var now = Self.start
        for sequence in 0..<Int64(150) {
            _ = plane.insert(try packet(sequence, now: now), from: ada, now: now)
            if let job = plane.wake(losses: { _ in 0 }, now: now) { _ = try finish(job, of: plane, now: now) }
            now += Self.frame
        }
        #expect(plane.forwardingCount == 1)
        var bytes = 0
        for sequence in 150..<Int64(1150) {
            var large = try packet(150, now: now)
            large.sequence = sequence
            large.payload.writeRepeatingByte(0, count: 1100 - large.payload.readableBytes)
            bytes += plane.insert(large, from: ada, now: now).count * 1100
        }
        #expect(bytes < 10_000)
    }

    @Test("a mix has the rate that its receiver's network carries")
    func mixRate() throws {
        let plane = makePlane(members: [ada, ben])
        let encoder = try OpusEncoder(settings: AudioEncoderSettings(bitRate: .kilobits(64)))
        var random = SeededGenerator(seed: 3)
        var now = Self.start
        var sequence: Int64 = 0
        /// The bytes of the mix that Ben gets of a second of noise.
        func bytesInSecond() throws -> Int {
            var bytes = 0
            for _ in 0..<50 {
                let noise = (0..<AudioFormat.frameSampleCount).map { _ in Float.random(in: -0.2...0.2, using: &random) }
                var packet = try packet(sequence, now: now)
                packet.payload = try encoder.encode(noise)
                _ = plane.insert(packet, from: ada, now: now)
                let job = try #require(plane.wake(losses: { _ in 0 }, now: now))
                for mix in try finish(job, of: plane, now: now) {
                    for packet in mix.packets where packet.receiver == ben {
                        bytes += packet.audio.payload.readableBytes
                    }
                }
                sequence += 1
                now += Self.frame
            }
            return bytes
        }
        _ = try bytesInSecond()
        let usual = try bytesInSecond()
        plane.setBitRate(.kilobits(16), of: ben)
        let less = try bytesInSecond()
        #expect(usual > 3000 && less < 2500, "\(usual), then \(less)")
    }

    @Test("who leaves, or sends no audio any more, speaks no more")
    func speakerGoes() throws {
        let plane = makePlane(members: [ada, ben])
        var now = Self.start
        for sequence in 0..<Int64(150) {
            _ = plane.insert(try packet(sequence, level: 5, now: now), from: ada, now: now)
            if let job = plane.wake(losses: { _ in 0 }, now: now) { _ = try finish(job, of: plane, now: now) }
            now += Self.frame
        }
        #expect(plane.activeSpeaker == ada && plane.isSpeaking(ada))
        plane.setStreams(of: ada, sendsAudio: false, hearsMix: true)
        #expect(!plane.isSpeaking(ada))
        plane.remove(ada)
        #expect(plane.activeSpeaker == nil)
    }

    @Test("a participant whose microphone is off is not the speaker, however loud the packets are")
    func microphoneOff() throws {
        let plane = makePlane(members: [ada, ben])
        plane.setMicrophone(isOn: false, of: ada)
        var now = Self.start
        for sequence in 0..<Int64(150) {
            _ = plane.insert(try packet(sequence, level: 5, now: now), from: ada, now: now)
            if let job = plane.wake(losses: { _ in 0 }, now: now) { _ = try finish(job, of: plane, now: now) }
            now += Self.frame
        }
        #expect(plane.activeSpeaker == nil && !plane.isSpeaking(ada))
    }
}
