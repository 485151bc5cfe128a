import ArgumentParser
import Conference
import Logging
import MediaCore
import SecureTransport
import VideoCoding

/// How log messages are written.
enum LogFormat: String, CaseIterable, ExpressibleByArgument {
    case text, json
}

extension Logger.Level: @retroactive ExpressibleByArgument {}
extension EncoderBackEnd: @retroactive ExpressibleByArgument {}
extension EncoderPreset: @retroactive ExpressibleByArgument {}
extension SelfView: @retroactive ExpressibleByArgument {}

extension BitRate: @retroactive ExpressibleByArgument {
    /// Bits per second: a number, which may end with `k` (thousands) or `M` (millions).
    public init?(argument: String) {
        let factor: Double
        switch argument.last {
        case "k", "K": factor = 1e3
        case "M", "m": factor = 1e6
        default: factor = 1
        }
        let digits = factor == 1 ? argument[...] : argument.dropLast()
        let isPlain = digits.allSatisfy { $0.isASCII && ($0.isNumber || $0 == ".") }
        guard isPlain, let number = Double(digits), number > 0, number * factor <= 1e10 else { return nil }
        self.init(bitsPerSecond: (number * factor).rounded())
    }

    public var defaultValueDescription: String {
        for (factor, suffix) in [(Int64(1_000_000), "M"), (1000, "k")] where bitsPerSecond >= factor {
            let number = Double(bitsPerSecond) / Double(factor)
            return (number == number.rounded() ? "\(Int64(number))" : "\(number)") + suffix
        }
        return "\(bitsPerSecond)"
    }
}

extension VideoDimensions: @retroactive ExpressibleByArgument {
    /// Width and height in pixels, `1280x720`.
    public init?(argument: String) {
        let parts = argument.split(separator: "x", omittingEmptySubsequences: false)
        guard parts.count == 2, let width = Int(parts[0]), let height = Int(parts[1]), width > 0, height > 0 else {
            return nil
        }
        self.init(width: width, height: height)
    }

    public var defaultValueDescription: String { description }
}

extension TransportAddress: @retroactive ExpressibleByArgument {
    /// An IP address without a port, and not a wildcard: others must be able to send to it.
    public init?(argument: String) {
        guard let address = TransportAddress(host: argument, port: 0), !address.isUnspecified else { return nil }
        self = address
    }

    public var defaultValueDescription: String { host }
}
