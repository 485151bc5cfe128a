import AudioMixing
import MediaCore
import NIOCore
import PeerConnection

/// Makes Opus packets of a player's audio, as a participant would send them. Belongs to one thread.
struct PlayerAudio: ~Copyable {
    private static let bitRate = BitRate.kilobits(64)
    /// Audio that goes on after a longer gap has a gap in its timestamps as well.
    private static let longestGap = Duration.milliseconds(100)

    private let encoder: OpusEncoder
    private var meter = LevelMeter()
    private var sequence: Int64 = 0
    private var timestamp: UInt32 = 0
    private var last: MonotonicInstant?

    init() throws(OpusError) {
        encoder = try OpusEncoder(settings: AudioEncoderSettings(bitRate: Self.bitRate, usesInBandFEC: false))
    }

    /// The packet of 20 ms; nil if it cannot be encoded.
    mutating func packet(of frame: [Float], now: MonotonicInstant) -> ReceivedAudioPacket? {
        guard let payload = try? encoder.encode(frame) else { return nil }
        let gap = last.map { now - $0 } ?? .zero
        let isContinuous = gap < Self.longestGap
        let passed = isContinuous ? 1 : Int64((gap / .milliseconds(20)).rounded())
        timestamp &+= UInt32(truncatingIfNeeded: passed &* Int64(frame.count))
        sequence += 1
        last = now
        return ReceivedAudioPacket(
            payload: payload, rtpTimestamp: timestamp, sequence: sequence, level: meter.measure(frame), arrival: now)
    }
}
