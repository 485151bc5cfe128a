/// The single format of audio between decoder and encoder: mono, 48 kHz, `Float` from -1 to 1, frames of 20 ms.
public enum AudioFormat {
    /// Samples per second; also the clock rate of Opus in RTP (RFC 7587, 4.1).
    public static let sampleRate = 48_000
    public static let frameSampleCount = 960
    /// The duration of a frame: one tick.
    public static let frameDuration = Duration.milliseconds(20)
}
