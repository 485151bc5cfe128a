import CEBUR128

/// Measures how loud a programme is, as EBU R 128 and ITU-R BS.1770 do. Not thread-safe: one caller at a time.
public final class LoudnessMeter {
    /// The loudness that broadcasters give a programme, in LUFS (EBU R 128).
    public static let programmeLoudness = -23.0

    private let state: UnsafeMutablePointer<ebur128_state>
    private let channelCount: Int

    /// - Throws: `LoudnessError` if libebur128 does not take such audio.
    public init(sampleRate: Int, channelCount: Int = 1) throws(LoudnessError) {
        let modes = EBUR128_MODE_I.rawValue | EBUR128_MODE_TRUE_PEAK.rawValue
        guard channelCount > 0, sampleRate > 0,
            let state = ebur128_init(
                UInt32(clamping: channelCount), UInt(clamping: sampleRate), Int32(bitPattern: modes))
        else { throw LoudnessError(sampleRate: sampleRate, channelCount: channelCount) }
        self.state = state
        self.channelCount = channelCount
    }

    deinit {
        var state: UnsafeMutablePointer<ebur128_state>? = state
        ebur128_destroy(&state)
    }

    /// Takes the next samples, those of all channels in turn.
    public func add(_ samples: [Float]) {
        samples.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return }
            // It fails for want of memory alone; what it has not taken in is not measured.
            _ = ebur128_add_frames_float(state, base, buffer.count / channelCount)
        }
    }

    /// The loudness of all samples so far, in LUFS; nil for silence, and for less than 400 ms.
    public var integrated: Double? {
        var loudness = 0.0
        guard ebur128_loudness_global(state, &loudness) == 0, loudness.isFinite else { return nil }
        return loudness
    }

    /// The highest peak of all channels between the samples too, as a share of full scale.
    public var truePeak: Double {
        (0..<UInt32(clamping: channelCount)).reduce(0) { highest, channel in
            var peak = 0.0
            return ebur128_true_peak(state, channel, &peak) == 0 ? max(highest, peak) : highest
        }
    }
}

/// Audio whose loudness cannot be measured.
public struct LoudnessError: Error, Equatable, CustomStringConvertible {
    var sampleRate: Int
    var channelCount: Int

    public var description: String {
        "the loudness of \(channelCount) channels at \(sampleRate) Hz cannot be measured, or there is no memory for it"
    }
}
