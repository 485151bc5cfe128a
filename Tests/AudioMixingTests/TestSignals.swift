import Foundation
import MediaCore
import NIOCore

@testable import AudioMixing

/// A steady sine wave.
func tone(_ frequency: Double, amplitude: Double = 0.3, from start: Int = 0, count: Int = 960) -> [Float] {
    (start..<(start + count)).map { Float(amplitude * sin(2 * .pi * frequency * Double($0) / 48_000)) }
}

/// Something like speech: a voice whose pitch wanders, in syllables. Unlike a tone it is worth a copy to the encoder.
func speech(from start: Int = 0, count: Int = 960) -> ArraySlice<Float> {
    let begin = start % SpeechTable.period
    return SpeechTable.samples[begin..<(begin + count)]
}

private enum SpeechTable {
    static let period = 96_000
    static let samples: [Float] = {
        let cycle = (0..<period).map { index -> Float in
            let time = Double(index) / 48_000
            let phase = 2 * .pi * (125 * time - 12 * cos(2 * .pi * time) / (2 * .pi))
            let syllable = 0.35 + 0.65 * pow(sin(.pi * 3 * time), 2)
            let voice = (1...16).reduce(0.0) { sum, harmonic in
                let formant = 1 / (1 + pow((Double(harmonic) * 125 - 600) / 400, 2))
                return sum + sin(Double(harmonic) * phase) * (0.1 + formant)
            }
            return Float(0.06 * voice * syllable)
        }
        return cycle + cycle[..<5760]
    }()
}

/// The amplitude of one frequency in the samples (Goertzel's algorithm).
func amplitude(of frequency: Double, in samples: some Collection<Float>) -> Double {
    let coefficient = 2 * cos(2 * .pi * frequency / 48_000)
    var (last, beforeLast) = (0.0, 0.0)
    for sample in samples { (last, beforeLast) = (Double(sample) + coefficient * last - beforeLast, last) }
    let power = last * last + beforeLast * beforeLast - coefficient * last * beforeLast
    return 2 * max(power, 0).squareRoot() / Double(max(samples.count, 1))
}

func rootMeanSquare(_ samples: some Collection<Float>) -> Double {
    (samples.reduce(0) { $0 + Double($1) * Double($1) } / Double(max(samples.count, 1))).squareRoot()
}

func peak(_ samples: some Collection<Float>) -> Float {
    samples.reduce(0) { max($0, abs($1)) }
}

/// The largest third difference of neighbouring samples. Low tones have hardly any; that of a step, which is heard as
/// a click, is twice the step.
func roughness(of samples: [Float]) -> Float {
    samples.indices.dropFirst(3).reduce(0) { largest, index in
        let ends = samples[index] - samples[index - 3]
        return max(largest, abs(ends - 3 * (samples[index - 1] - samples[index - 2])))
    }
}

extension MonotonicInstant {
    /// So many milliseconds after an arbitrary start.
    static func at(_ milliseconds: Double) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: 5_000_000_000 + Int64(milliseconds * 1e6))
    }
}

/// Makes the packets of a sender that has a clock of its own.
struct TestSender {
    let encoder: OpusEncoder
    var packetSamples = 960
    /// The excess of the sender's clock in millionths.
    var clockSkew = 0.0
    var firstTimestamp: UInt32 = 4_294_960_000
    var firstSequence: Int64 = 65_000
    /// The signal, by the index of its first sample.
    var signal: (_ start: Int, _ count: Int) -> [Float] = { tone(440, from: $0, count: $1) } {
        didSet { loop = nil }
    }
    /// The number of packets after which the signal repeats itself, if it does: they are not encoded again.
    private var loop: Int? = 50
    private var encoded: [ByteBuffer] = []
    private var index = 0

    init(settings: AudioEncoderSettings = AudioEncoderSettings(expectedPacketLoss: 0.2)) throws {
        encoder = try OpusEncoder(settings: settings)
    }

    /// The next packet and when it leaves, in milliseconds.
    mutating func next() throws -> (packet: AudioPacket, leaves: Double) {
        let start = index * packetSamples
        let payload: ByteBuffer
        if let loop, index >= loop, encoded.count == loop {
            payload = encoded[index % loop]
        } else {
            payload = try encoder.encode(signal(start, packetSamples))
            if loop != nil { encoded.append(payload) }
        }
        let leaves = Double(start) / 48 / (1 + clockSkew / 1e6)
        let packet = AudioPacket(
            payload: payload, rtpTimestamp: firstTimestamp &+ UInt32(truncatingIfNeeded: start),
            sequence: firstSequence + Int64(index), arrival: .at(leaves))
        index += 1
        return (packet, leaves)
    }
}

/// A source at the end of a network that a test makes up, pulled every 20 ms.
struct TestLink {
    let source: AudioSource
    var sender: TestSender
    /// The delay of packet `index` in milliseconds; `nil` if it is lost.
    var delay: (_ index: Int) -> Double? = { _ in 10 }
    private var underway: [(arrives: Double, packet: AudioPacket)] = []
    private var sent = 0
    private var nextToSend: (packet: AudioPacket, leaves: Double)?
    private(set) var tick = 0

    init(sender: TestSender) throws {
        self.sender = sender
        source = try AudioSource(id: 1)
    }

    /// Advances time by `milliseconds`. Returns the audio that was played.
    @discardableResult
    mutating func run(_ milliseconds: Int) throws -> [Float] {
        var played: [Float] = []
        for _ in 0..<(milliseconds / 20) {
            // Off the sender's grid, as clocks are.
            let now = Double(tick) * 20 + 7
            while true {
                let next = try nextToSend ?? sender.next()
                nextToSend = next
                guard next.leaves <= now else { break }
                if let delay = delay(sent) { underway.append((next.leaves + delay, next.packet)) }
                sent += 1
                nextToSend = nil
            }
            for (arrives, packet) in underway.filter({ $0.arrives <= now }).sorted(by: { $0.arrives < $1.arrives }) {
                var packet = packet
                packet.arrival = .at(arrives)
                source.insert(packet)
            }
            underway.removeAll { $0.arrives <= now }
            source.pull(now: .at(now))
            played += source.frame
            tick += 1
        }
        return played
    }
}
