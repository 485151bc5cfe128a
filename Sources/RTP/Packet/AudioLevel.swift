/// How loud the audio in a packet is (RFC 6464).
public struct AudioLevel: Hashable, Sendable {
    /// The level in dB below overload (-dBov): 0 is the loudest, 127 silence.
    public var level: UInt8
    /// Whether the sender believes that the packet holds speech.
    public var voiceActivity: Bool

    /// Creates a level; values above 127 become 127.
    public init(level: UInt8, voiceActivity: Bool) {
        self.level = min(level, 127)
        self.voiceActivity = voiceActivity
    }
}
