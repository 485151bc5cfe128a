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
    /// What the limiter multiplied the mix by where it was loudest; 1 where nothing had to be limited.
    public var limiterGain: Float

    public init(payload: ByteBuffer, level: AudioLevel, maySkip: Bool = false, limiterGain: Float = 1) {
        self.payload = payload
        self.level = level
        self.maySkip = maySkip
        self.limiterGain = limiterGain
    }
}
