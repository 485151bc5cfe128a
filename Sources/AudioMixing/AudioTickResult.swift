public import MediaCore

/// The result of a tick: a packet for each receiver, and the state of each source.
public struct AudioTickResult: Sendable {
    public var packets: [ParticipantID: EncodedAudio] = [:]
    public var sources: [ParticipantID: AudioSourceReport] = [:]

    /// The number of frames that were encoded for all receivers.
    public var encodeCount = 0
    /// The final gain of the sum of all sources, which keeps it within full scale; 1 if it is quiet enough.
    public var limiterGain: Float = 1

    /// Failures of libopus, such as a lack of memory for another encoder.
    public var failures: [OpusError] = []

    public init() {}
}
