public import MediaCore

/// What a tick made: a packet for each receiver, and how each source is.
public struct AudioTickResult: Sendable {
    /// By receiver.
    public var packets: [ParticipantID: EncodedAudio]
    /// By source.
    public var sources: [ParticipantID: AudioSourceReport]

    /// What libopus refused to do, such as making another encoder when there is no memory.
    public var failures: [OpusError] = []

    public init(packets: [ParticipantID: EncodedAudio] = [:], sources: [ParticipantID: AudioSourceReport] = [:]) {
        self.packets = packets
        self.sources = sources
    }
}
