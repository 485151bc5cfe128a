import AudioMixing
import MediaCore
import PeerConnection

/// Makes Opus packets of a player's audio, as a participant would send them. Belongs to one thread.
struct PlayerAudio: ~Copyable {
    private static let bitRate = BitRate.kilobits(64)
    private static let frameDuration = Duration.milliseconds(20)

    private let encoder: OpusEncoder
    private var meter = LevelMeter()
    private var sequence: Int64 = 0
    private var timestamp: UInt32 = 0
    /// When what follows the last packet without a gap is due.
    private var next: MonotonicInstant?

    init() throws(OpusError) {
        encoder = try OpusEncoder(settings: AudioEncoderSettings(bitRate: Self.bitRate, usesInBandFEC: false))
    }

    /// The packet of 20 ms; nil if it cannot be encoded.
    ///
    /// The timestamp follows from the time at which the packet was due. A late thread sends all waiting packets at
    /// once: timestamps by the time of sending would count the delay, and then the delayed packets again.
    mutating func packet(of frame: [Float], due: MonotonicInstant, now: MonotonicInstant) -> ReceivedAudioPacket? {
        guard let payload = try? encoder.encode(frame) else { return nil }
        let gap = next.map { due - $0 } ?? .zero
        // Whole packets: the rest of the gap counts in the next one.
        let missed = max(Int64((gap / Self.frameDuration).rounded()), 0)
        timestamp &+= UInt32(truncatingIfNeeded: (missed + 1) &* Int64(frame.count))
        sequence += 1
        let isEarly = gap < .zero - Self.frameDuration / 2
        next = (isEarly ? due : (next ?? due) + Self.frameDuration * Int(missed)) + Self.frameDuration
        return ReceivedAudioPacket(
            payload: payload, rtpTimestamp: timestamp, sequence: sequence, level: meter.measure(frame), arrival: now)
    }
}
