public import MediaCore

/// What a tick made: a packet for each receiver, and how each source is.
public struct AudioTickResult: Sendable {
    /// By receiver.
    public var packets: [ParticipantID: EncodedAudio]
    /// By source.
    public var sources: [ParticipantID: AudioSourceReport]

    public init(packets: [ParticipantID: EncodedAudio] = [:], sources: [ParticipantID: AudioSourceReport] = [:]) {
        self.packets = packets
        self.sources = sources
    }
}
