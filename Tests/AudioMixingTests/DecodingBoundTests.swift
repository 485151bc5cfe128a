import MediaCore
import NIOCore
import Testing

@testable import AudioMixing

/// The duration of audio that is decoded for a source, in relation to the time that passes.
@Suite("Audio source: the cost of decoding")
struct DecodingBoundTests {
    /// A packet of 120 ms: six frames of 20 ms with lengths of their own (RFC 6716, 3.2.5, code 3).
    private static func longPacket(_ frames: [ByteBuffer]) throws -> ByteBuffer {
        let first = try #require(frames.first?.getInteger(at: 0, as: UInt8.self))
        var bytes = [first | 3, 0x80 | UInt8(frames.count)]
        for frame in frames.dropLast() {
            let length = frame.readableBytes - 1
            if length < 252 {
                bytes.append(UInt8(length))
            } else {
                bytes += [UInt8(252 + length % 4), UInt8((length - 252 - length % 4) / 4)]
            }
        }
        for frame in frames { bytes += frame.readableBytesView.dropFirst() }
        return ByteBuffer(bytes: bytes)
    }

    /// Packets of all lengths, with in-band FEC if their mode has it.
    private static func payloads() throws -> [ByteBuffer] {
        let lengths = [120, 240, 480, 960, 1920, 2880]
        var payloads: [ByteBuffer] = []
        for length in lengths {
            let encoder = try OpusEncoder(settings: AudioEncoderSettings(expectedPacketLoss: 0.3))
            payloads += try (0..<4).map { try encoder.encode(Array(speech(from: $0 * length, count: length))) }
        }
        let encoder = try OpusEncoder()
        payloads.append(try longPacket((0..<6).map { try encoder.encode(tone(440, from: $0 * 960)) }))
        return payloads
    }

    /// True if the audio decoded over every window is within the budget.
    private func isBounded(_ decoded: [Duration], every step: Duration) -> Bool {
        // The largest of `decoded - allowed` over all windows is found in one pass.
        var lowest = Double.infinity
        var isBounded = true
        for (index, decoded) in decoded.enumerated() {
            let excess = decoded.seconds - AudioSource.decodingRate * (step * index).seconds
            lowest = min(lowest, excess)
            if excess - lowest > AudioSource.decodingBurst / 48_000 + 1e-3 { isBounded = false }
        }
        return isBounded
    }

    @Test(
        "packets of 120 ms that each bring half a millisecond cost no more than the time that goes by",
        arguments: [250, 1000, 2000, 6000])
    func overlapping(packetsPerSecond: Int) throws {
        let source = try AudioSource(id: 1)
        let long = try #require(try Self.payloads().last)
        #expect(OpusDecoder.sampleCount(of: long) == 5760)
        source.insert(
            AudioPacket(
                payload: try OpusEncoder().encode(tone(440)), rtpTimestamp: 48_000, sequence: 0, arrival: .at(0)))
        var end: UInt32 = 48_960
        var sequence: Int64 = 0
        var decoded: [Duration] = []
        for tick in 0..<500 {
            for _ in 0..<(packetsPerSecond / 50) {
                sequence += 1
                end += UInt32(48_000 / packetsPerSecond)
                source.insert(
                    AudioPacket(
                        payload: long, rtpTimestamp: end &- 5760, sequence: sequence, arrival: .at(Double(tick) * 20)))
            }
            source.pull(now: .at(Double(tick) * 20))
            decoded.append(source.statistics.decoded)
        }
        #expect(isBounded(decoded, every: .milliseconds(20)))
        let statistics = source.statistics
        // 10 s went by.
        #expect(statistics.decoded < .seconds(21), "\(statistics.decoded)")
        #expect(statistics.packetsDecoded < 200, "\(statistics.packetsDecoded)")
        #expect(statistics.overlapping + statistics.discarded + statistics.late > packetsPerSecond * 7)
    }

    @Test("for any packets that a sender makes up, the decoded time is bounded over every window", arguments: 1...6)
    func hostile(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let payloads = try Self.payloads()
        let source = try AudioSource(id: 1)
        var (sequence, timestamp) = (Int64(0), UInt32(48_000))
        var decoded: [Duration] = []
        // The sender's behaviour changes now and then, so that each one meets each state of the source.
        var (rate, step, gap, restarts) = (1, 24, 1, false)
        for tick in 0..<3000 {
            if tick.isMultiple(of: 50) {
                rate = [0, 1, 4, 40, 128].randomElement(using: &generator) ?? 1
                step = [1, 24, 120, 480, 960, 3000, 5760].randomElement(using: &generator) ?? 1
                gap = [1, 1, 2, 100].randomElement(using: &generator) ?? 1
                restarts = Int.random(in: 0..<4, using: &generator) == 0
            }
            for _ in 0..<rate {
                sequence += Int64(gap)
                timestamp &+= UInt32(step)
                if restarts, Int.random(in: 0..<8, using: &generator) == 0 { timestamp &+= 100_000 }
                let payload = payloads.randomElement(using: &generator) ?? ByteBuffer()
                let length = OpusDecoder.sampleCount(of: payload) ?? 0
                // By its end, so that each packet has something new.
                source.insert(
                    AudioPacket(
                        payload: payload, rtpTimestamp: timestamp &- UInt32(length), sequence: sequence,
                        arrival: .at(Double(tick) * 20)))
            }
            source.pull(now: .at(Double(tick) * 20))
            decoded.append(source.statistics.decoded)
        }
        #expect(isBounded(decoded, every: .milliseconds(20)))
        #expect(source.statistics.packetsDecoded > 100)
    }

    @Test(
        "honest senders lose nothing, with packets of any length and clocks that drift",
        arguments: [480, 960, 1920, 2880, 5760], [-1000.0, 0, 1000])
    func honest(length: Int, skew: Double) throws {
        let source = try AudioSource(id: 1)
        var generator = SeededGenerator(seed: UInt64(length))
        let encoder = try OpusEncoder(settings: AudioEncoderSettings(expectedPacketLoss: 0.2))
        let count = 60 * 48_000 / length
        let loop = try (0..<20).map { index in
            guard length == 5760 else { return try encoder.encode(tone(440, from: index * length, count: length)) }
            return try Self.longPacket(
                (0..<6).map { try encoder.encode(tone(440, from: index * length + $0 * 960)) })
        }
        // Some packets are reordered, some come twice, and some come late with the next one, as from RED.
        var arrivals: [(time: Double, index: Int)] = []
        for index in 0..<count {
            let leaves = Double(index * length) / 48 / (1 + skew / 1e6)
            let delay = 10 + Double.random(in: 0...4, using: &generator)
            switch Int.random(in: 0..<20, using: &generator) {
            case 0: arrivals += [(leaves + delay, index), (leaves + delay + 3, index)]
            case 1: arrivals.append((leaves + delay + Double(length) / 48 + 1, index))
            default: arrivals.append((leaves + delay, index))
            }
        }
        arrivals.sort { $0.time < $1.time }
        var next = 0
        // A slow clock is 60 ms behind at the end.
        for tick in 0..<(60 * 50 + 10) {
            let now = Double(tick) * 20 + 7
            while next < arrivals.count, arrivals[next].time <= now {
                let index = arrivals[next].index
                source.insert(
                    AudioPacket(
                        payload: loop[index % loop.count], rtpTimestamp: 77 + UInt32(index * length),
                        sequence: 100 + Int64(index), arrival: .at(arrivals[next].time)))
                next += 1
            }
            source.pull(now: .at(now))
        }
        let statistics = source.statistics
        #expect(statistics.overlapping == 0 && statistics.overBudget == 0)
        #expect(statistics.discarded == 0 && statistics.malformed == 0 && statistics.restarts == 0)
        // Only packets that came late at first, before the jitter was known, may be missing.
        #expect(statistics.packetsDecoded + statistics.late >= count - 6, "\(statistics.packetsDecoded) of \(count)")
        #expect(statistics.late <= max(3, count / 200), "\(statistics.late)")
        #expect(statistics.decoded < .seconds(63), "\(statistics.decoded)")
    }

    @Test("a sender that is silent now and then (DTX), and whose timestamps jitter, loses nothing", arguments: 1...3)
    func discontinuous(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let source = try AudioSource(id: 1)
        let encoder = try OpusEncoder()
        let silence = ByteBuffer(bytes: [0x78])
        var (sequence, sent) = (Int64(0), 0)
        var isTalking = true
        for tick in 0..<3000 {
            if tick.isMultiple(of: 40) { isTalking = Bool.random(using: &generator) }
            if isTalking || tick.isMultiple(of: 20) {
                let payload = isTalking ? try encoder.encode(Array(speech(from: tick * 960))) : silence
                // Some senders' timestamps come from a clock: off by up to 3 ms.
                let timestamp = UInt32(48_000 + tick * 960 + Int.random(in: -144...144, using: &generator))
                source.insert(
                    AudioPacket(
                        payload: payload, rtpTimestamp: timestamp, sequence: sequence, arrival: .at(Double(tick) * 20)))
                sequence += 1
                sent += 1
            }
            source.pull(now: .at(Double(tick) * 20 + 1))
        }
        let statistics = source.statistics
        #expect(statistics.overlapping == 0 && statistics.overBudget == 0 && statistics.malformed == 0)
        #expect(statistics.packetsDecoded >= sent - 4, "\(statistics.packetsDecoded) of \(sent), \(statistics)")
    }
}
