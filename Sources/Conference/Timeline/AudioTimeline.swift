import AudioMixing
import MediaCore

/// The last minute of one participant's audio, as received and as mixed for it.
final class AudioTimeline {
    struct Bucket: Sendable {
        /// Ticks at which the participant was a source.
        var sourceTicks: UInt16 = 0
        /// The sum of the gains with which they were added to the mixes, in 255ths.
        var gains: UInt16 = 0
        /// The loudest, in -dBov.
        var level: UInt8 = 127
        var isVoice = false
        /// Milliseconds made up for lost or late packets.
        var concealed: UInt16 = 0
        /// Ticks at which the participant was given a mix.
        var mixTicks: UInt16 = 0
        /// The loudest of the mix, in -dBov.
        var mixLevel: UInt8 = 127
    }

    let participant: ParticipantID
    let publicID: String
    let name: String
    private(set) var ring = TimelineRing(empty: Bucket())
    private(set) var lastSeen: MonotonicInstant
    private var concealed = CounterReading()

    init(participant: ParticipantID, publicID: String, name: String, now: MonotonicInstant) {
        self.participant = participant
        self.publicID = publicID
        self.name = name
        lastSeen = now
    }

    /// Takes a tick's results for the participant's audio and for its mix.
    func observe(_ source: AudioSourceReport?, mix: EncodedAudio?, now: MonotonicInstant) {
        guard source != nil || mix != nil else { return }
        lastSeen = max(lastSeen, now)
        let made = source.map { self.concealed.advance(to: UInt64(clamping: $0.statistics.concealed.nanoseconds)) } ?? 0
        ring.update(TimelineScale.bucket(at: now)) { bucket in
            if let source {
                bucket.sourceTicks.count(1)
                bucket.gains.count(source.mixGain > 0 ? UInt64(min(source.mixGain, 1) * 255) : 0)
                bucket.level = min(bucket.level, source.level.decibelsBelowOverload)
                bucket.isVoice = bucket.isVoice || source.level.isVoice
                bucket.concealed.count((made + 500_000) / 1_000_000)
            }
            if let mix {
                bucket.mixTicks.count(1)
                bucket.mixLevel = min(bucket.mixLevel, mix.level.decibelsBelowOverload)
            }
        }
    }
}

/// The last minute of the sum of all audio.
struct MixTimeline: Sendable {
    struct Bucket: Sendable {
        var ticks: UInt16 = 0
        /// The lowest gain of the limiter, in 65535ths.
        var limiterGain = UInt16.max
        /// Packets encoded.
        var encodes: UInt16 = 0
    }

    private(set) var ring = TimelineRing(empty: Bucket())

    mutating func observe(_ result: AudioTickResult, now: MonotonicInstant) {
        let gain = result.limiterGain
        ring.update(TimelineScale.bucket(at: now)) { bucket in
            bucket.ticks.count(1)
            bucket.encodes.count(UInt64(clamping: result.encodeCount))
            bucket.limiterGain = min(bucket.limiterGain, gain >= 1 ? .max : gain > 0 ? UInt16(gain * 65_535) : 0)
        }
    }
}
