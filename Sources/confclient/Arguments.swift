public import ArgumentParser
public import ConferenceClient
public import CongestionControl
import LinkEmulation
import MediaCore
import SecureTransport
import VideoCoding

/// A picture's size, such as `640x360`.
struct SizeArgument: ExpressibleByArgument {
    let dimensions: VideoDimensions

    init?(argument: String) {
        let parts = argument.split(separator: "x", omittingEmptySubsequences: false).compactMap { Int($0) }
        guard parts.count == 2, parts.allSatisfy({ (16...4096).contains($0) && $0.isMultiple(of: 2) }) else {
            return nil
        }
        dimensions = VideoDimensions(width: parts[0], height: parts[1])
    }
}

/// A bitrate, such as `1.5M` or `500k`.
struct BitRateArgument: ExpressibleByArgument, CustomStringConvertible {
    let bitRate: BitRate
    private let text: String

    init?(argument: String) {
        guard let rate = LinkProfile.bitRate(argument), rate >= .kilobits(60), rate <= .megabits(100) else {
            return nil
        }
        bitRate = rate
        text = argument
    }

    init(_ bitRate: BitRate, _ text: String) {
        self.bitRate = bitRate
        self.text = text
    }

    var description: String { text }
}

/// A time, such as `20`, `1.5s` or `5min`.
struct DurationArgument: ExpressibleByArgument {
    let duration: Duration

    init?(argument: String) {
        guard let duration = LinkProfile.duration(argument) ?? LinkProfile.duration(argument + "s"), duration > .zero
        else { return nil }
        self.duration = duration
    }
}

/// A place in a file, such as `0`, `1.5s` or `5min`.
struct PositionArgument: ExpressibleByArgument {
    let position: Duration

    init?(argument: String) {
        guard let position = LinkProfile.duration(argument) ?? LinkProfile.duration(argument + "s") else { return nil }
        self.position = position
    }
}

enum SelfViewArgument: String, ExpressibleByArgument, CaseIterable {
    case never, always
}

extension ClientTransport: ExpressibleByArgument {}
extension CongestionControllerKind: ExpressibleByArgument {}

enum SuiteArgument: String, ExpressibleByArgument, CaseIterable {
    case counterMode = "AES_CM_128_HMAC_SHA1_80"
    case galois = "AEAD_AES_128_GCM"

    var profile: SRTPProfile {
        switch self {
        case .counterMode: .aesCM128HMACSHA1_80
        case .galois: .aeadAES128GCM
        }
    }
}

/// A size of a file, such as `500kB` or `64MB`.
struct FileSizeArgument: ExpressibleByArgument, CustomStringConvertible {
    let size: DataSize
    private let text: String

    init?(argument: String) {
        guard let size = LinkProfile.dataSize(argument), size >= DataSize(bytes: 10_000) else { return nil }
        self.size = size
        text = argument
    }

    init(_ size: DataSize, _ text: String) {
        self.size = size
        self.text = text
    }

    var description: String { text }
}

enum EncoderArgument: String, ExpressibleByArgument, CaseIterable {
    case openh264, x264

    var backEnd: EncoderBackEnd {
        switch self {
        case .openh264: .openH264
        case .x264: .x264
        }
    }

    /// The encoders that this program was built with.
    static var available: [EncoderArgument] { allCases.filter(\.backEnd.isBuilt) }
}

/// Where the measurements of a call go.
enum StatisticsOutput: ExpressibleByArgument, Equatable {
    case file(String)
    case standardOutput

    init?(argument: String) {
        self = argument == "-" ? .standardOutput : .file(argument)
    }
}
