/// The level of a frame of audio, as in the header extension of RFC 6464.
public struct AudioLevel: Hashable, Sendable {
    /// Decibels below overload (-dBov): 0 is the loudest, 127 silence.
    public var decibelsBelowOverload: UInt8
    /// True if the frame probably holds speech.
    public var isVoice: Bool

    public init(decibelsBelowOverload: UInt8, isVoice: Bool = false) {
        self.decibelsBelowOverload = min(decibelsBelowOverload, 127)
        self.isVoice = isVoice
    }

    public static let silence = AudioLevel(decibelsBelowOverload: 127)

    /// The level as the header extension's one byte: the voice flag, then seven bits of level (RFC 6464, 3).
    public var headerExtensionByte: UInt8 { (isVoice ? 0x80 : 0) | decibelsBelowOverload }

    /// Reads the header extension's byte.
    public init(headerExtensionByte byte: UInt8) {
        self.init(decibelsBelowOverload: byte & 0x7F, isVoice: byte & 0x80 != 0)
    }
}
