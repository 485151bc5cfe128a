public import MediaCore

/// What a tick made: a packet for each receiver, and how each source is.
public struct AudioTickResult: Sendable {
    /// By receiver.
    public var packets: [ParticipantID: EncodedAudio]
    /// By source.
    public var sources: [ParticipantID: AudioSourceReport]

    /// How many frames were encoded for all of them.
    public var encodeCount = 0
    /// What the sum of all sources was multiplied by at last to stay within full scale; 1 where it is quiet enough.
    public var limiterGain: Float = 1

    /// What libopus refused to do, such as making another encoder when there is no memory.
    public var failures: [OpusError] = []

    public init(packets: [ParticipantID: EncodedAudio] = [:], sources: [ParticipantID: AudioSourceReport] = [:]) {
        self.packets = packets
        self.sources = sources
    }
}
