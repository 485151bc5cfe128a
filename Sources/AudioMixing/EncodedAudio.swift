public import MediaCore
public import NIOCore

/// 20 ms of a receiver's mix, encoded.
public struct EncodedAudio: Sendable {
    /// One Opus packet, the payload of one RTP packet; its timestamp is 960 after the one before.
    public var payload: ByteBuffer
    /// The level of the mix.
    public var level: AudioLevel
    /// Whether the packet need not be sent: the encoder is silent by DTX.
    public var maySkip: Bool

    public init(payload: ByteBuffer, level: AudioLevel, maySkip: Bool = false) {
        self.payload = payload
        self.level = level
        self.maySkip = maySkip
    }
}
