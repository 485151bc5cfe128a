import AudioMixing
import MediaCore

/// Where the audio of a track's packets goes on the film's clock, in samples.
///
/// A packet belongs to its time in the recording. Packets that follow each other are played one after the other: what
/// the times say of the sender's clock is made good a few samples at a time. Where packets are missing the gap is
/// concealed, or silent if it is long, so that what follows is at its time.
struct AudioPlacement {
    /// A difference that is made good at once. Pictures and sound may differ by 20 ms; the mapping of each sender's
    /// clock takes its part of that.
    private static let largestDrift: Int64 = 480
    /// A correction takes at most one of this many samples of a packet.
    private static let correctionDivisor = 50
    /// The longest gap that is concealed, 60 ms.
    private static let longestBridge: Int64 = 2880

    /// Gaps are concealed in steps of 10 ms, as libopus does. The rest is made good a few samples at a time.
    static let bridgeUnit = 480

    /// The decision about a packet.
    struct Step: Equatable {
        /// The samples that are concealed first, a multiple of `AudioPlacement.bridgeUnit`.
        var concealed = 0
        /// The samples of silence that come first if the gap is too long to be concealed.
        var silence = 0
        /// The first samples that are left out.
        var omitted = 0
        /// The number of samples by which the rest is played longer, or shorter if it is negative.
        var stretch = 0
    }

    /// Where the next sample goes.
    private(set) var end: Int64 = 0

    /// Places the next packet.
    ///
    /// - Parameter time: When it is played, in seconds since the film's beginning. What comes before is left out.
    mutating func place(_ sampleCount: Int, at time: Double) -> Step {
        let time = min(max(time, -RecordingReader.longest), RecordingReader.longest)
        let wanted = Int64(clamping: (time * Double(AudioFormat.sampleRate)).rounded())
        let drift = wanted &- end
        var step = Step()
        if drift > Self.largestDrift, drift <= Self.longestBridge {
            step.concealed = (Int(drift) + Self.bridgeUnit / 2) / Self.bridgeUnit * Self.bridgeUnit
        } else if drift > Self.largestDrift {
            step.silence = Int(clamping: drift)
        } else if drift < -Self.largestDrift {
            step.omitted = Int(clamping: min(-drift, Int64(sampleCount)))
        } else {
            let most = Int64((sampleCount - step.omitted) / Self.correctionDivisor)
            step.stretch = Int(clamping: min(max(drift, -most), most))
        }
        end += Int64(step.concealed + step.silence + sampleCount - step.omitted + step.stretch)
        return step
    }

    /// The track has nothing until this sample.
    mutating func skip(to sample: Int64) { end = max(end, sample) }
}
