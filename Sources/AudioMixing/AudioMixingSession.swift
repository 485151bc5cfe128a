public import MediaCore

/// One room's sound: decodes every source, mixes for every receiver all but its own, and encodes. 20 ms a tick.
///
/// Belongs to one caller at a time: the room's tick job.
public final class AudioMixingSession {
    public init() {}

    /// Takes in what happened since the last tick and makes the next 20 ms for every receiver.
    ///
    /// A receiver hears every source but the one of its own id.
    public func tick(_ input: AudioMixingInput, now: MonotonicInstant) -> AudioTickResult {
        AudioTickResult()
    }
}
