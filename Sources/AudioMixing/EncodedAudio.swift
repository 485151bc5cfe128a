public import MediaCore
public import NIOCore

/// 20 ms of a receiver's mix, encoded.
public struct EncodedAudio: Sendable {
    /// One Opus packet, the payload of one RTP packet. Its timestamp is 960 after the last one's.
    public var payload: ByteBuffer
    /// The level of the mix.
    public var level: AudioLevel

    public init(payload: ByteBuffer, level: AudioLevel) {
        self.payload = payload
        self.level = level
    }
}
