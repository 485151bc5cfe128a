import COpus

/// The reason for a failure of libopus.
public enum OpusError: Error, Hashable {
    /// The payload is not an Opus packet (RFC 6716, 3.4).
    case malformedPacket
    /// The encoder was given a number of samples that is not a frame of Opus at 48 kHz.
    case unsupportedFrameSize(samples: Int)
    /// libopus failed with this code.
    case library(code: Int32)
}

extension OpusError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .malformedPacket:
            "the payload is not an Opus packet; it is best treated as lost"
        case .unsupportedFrameSize(let samples):
            "\(samples) samples are not a frame of Opus; at 48 kHz it takes 120, 240, 480, 960, 1920 or 2880"
        case .library(let code):
            "libopus failed: \(String(cString: opus_strerror(code))) (code \(code))"
        }
    }
}
