public import MediaCore
public import NIOCore

/// 20 ms of a receiver's mix, encoded.
public struct EncodedAudio: Sendable {
    /// One Opus packet, the payload of one RTP packet. Its timestamp is 960 after the last one's.
    public var payload: ByteBuffer
    /// The level of the mix.
    public var level: AudioLevel
    /// True if the packet need not be sent, because the encoder is silent (DTX).
    public var maySkip: Bool

    public init(payload: ByteBuffer, level: AudioLevel, maySkip: Bool = false) {
        self.payload = payload
        self.level = level
        self.maySkip = maySkip
    }
}
