public import ArgumentParser
public import Compositing
public import Conference
import CongestionControl
import Foundation
import LinkEmulation
import Logging
import MediaCore
import RelayServer
import RoomAPI
import RoomMedia
import SecureTransport
import Synchronization
public import VideoCoding

/// An option that is on or off.
enum Switch: String, CaseIterable, ExpressibleByArgument {
    case on, off
}

/// The format of log messages.
enum LogFormat: String, CaseIterable, ExpressibleByArgument {
    case text, json
}

extension CongestionControllerKind: ExpressibleByArgument {}
extension EncoderBackEnd: ExpressibleByArgument {
    /// Encoders in software; `--codec` says whether a device encodes instead.
    public init?(argument: String) {
        guard let backEnd = Self.software.first(where: { $0.rawValue == argument }) else { return nil }
        self = backEnd
    }

    public static var allValueStrings: [String] { software.map(\.rawValue) }
}
extension CodecChoice: ExpressibleByArgument {}
extension EncoderPreset: ExpressibleByArgument {}
extension LayoutPreview.Shape: ExpressibleByArgument {}
extension ForwardingMode: ExpressibleByArgument {}
extension ClusterSettings.JoinBy: ExpressibleByArgument {}
extension SelfView: ExpressibleByArgument {}

extension VAAPIDevice {
    /// Parses a device.
    init(option text: String) throws {
        guard let device = VAAPIDevice(text) else {
            throw ValidationError("name a render node, such as /dev/dri/renderD128, or a driver, as driver:NAME")
        }
        self = device
    }
}

extension Logger.Level {
    /// Parses the name of a level.
    init(option text: String) throws {
        guard let level = Logger.Level(rawValue: text) else {
            let names = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("choose one of \(names)")
        }
        self = level
    }
}

extension BitRate {
    /// Parses bits per second: a number, which may end with `k` (thousands) or `M` (millions).
    init(option text: String) throws {
        let factor: Double
        switch text.last {
        case "k", "K": factor = 1e3
        case "M", "m": factor = 1e6
        default: factor = 1
        }
        let digits = factor == 1 ? text[...] : text.dropLast()
        let isPlain = digits.allSatisfy { $0.isASCII && ($0.isNumber || $0 == ".") }
        // Below a thousand bits, the letter has been forgotten.
        guard isPlain, let number = Double(digits), number > 0, number * factor <= 1e10, factor > 1 || number >= 1000
        else {
            throw ValidationError("give bits per second, such as 500k, 2.5M or 800000")
        }
        self.init(bitsPerSecond: (number * factor).rounded())
    }
}

extension DataSize {
    /// Parses a number of bytes, which may end with `kB`, `MB` or `GB` (powers of 1000).
    init(option text: String) throws {
        let units: [(suffix: String, factor: Int)] = [
            ("kB", 1000), ("MB", 1_000_000), ("GB", 1_000_000_000), ("", 1),
        ]
        for (suffix, factor) in units where text.hasSuffix(suffix) {
            let digits = text.dropLast(suffix.count)
            guard digits.allSatisfy({ $0.isASCII && $0.isNumber }), let number = Int(digits), number > 0,
                number <= 1_000_000_000_000 / factor
            else { break }
            self.init(bytes: number * factor)
            return
        }
        throw ValidationError("give a size, such as 500kB, 64MB or 1GB")
    }
}

extension VideoDimensions {
    /// Parses width and height in pixels, `1280x720`.
    init(option text: String) throws {
        let parts = text.split(separator: "x", omittingEmptySubsequences: false)
        guard parts.count == 2, let width = Int(parts[0]), let height = Int(parts[1]), width > 0, height > 0 else {
            throw ValidationError("give width and height in pixels, such as 1280x720")
        }
        self.init(width: width, height: height)
    }
}

extension Duration {
    /// Parses the duration of a transition, such as `300ms` or `0.5s`, or `off`.
    init(transition text: String) throws {
        if text == "off" {
            self = .zero
            return
        }
        let units: [(suffix: String, nanoseconds: Double)] = [("ms", 1e6), ("s", 1e9)]
        for (suffix, nanoseconds) in units where text.hasSuffix(suffix) {
            let digits = text.dropLast(suffix.count)
            guard digits.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }), let number = Double(digits),
                number * nanoseconds <= 5e9
            else { break }
            self = .nanoseconds(Int64(clamping: (number * nanoseconds).rounded()))
            return
        }
        throw ValidationError("give a time of at most 5 s, such as 300ms or 0.5s, or off")
    }
}

extension Duration {
    /// Parses how long the relay waits for calls to end, such as `30s`, `5m` or `2h`, or `off`.
    init(drain text: String) throws {
        if text == "off" {
            self = .zero
            return
        }
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600]
        guard let unit = text.last.flatMap({ units[$0] }), let number = UInt16(text.dropLast()),
            Int64(number) * unit <= 86_400
        else { throw ValidationError("give a time of at most a day, such as 30s, 5m or 2h, or off") }
        self = .seconds(Int64(number) * unit)
    }
}

/// A file that an option names.
enum NamedFile {
    /// The texts of pipes, which hand them out once: of options with mistakes the parser is asked several times.
    private static let textsOfPipes = Mutex<[String: String]>([:])

    private static func text(of path: String) throws(TextFile.Unreadable) -> String {
        guard TextFile.isPipe(path) else { return try TextFile.text(of: path) }
        return try textsOfPipes.withLock { texts throws(TextFile.Unreadable) in
            if let known = texts[path] { return known }
            let text = try TextFile.text(of: path)
            texts[path] = text
            return text
        }
    }

    /// Reads the file's text as a value.
    static func value<Value, Failure: Error & CustomStringConvertible>(
        of path: String, as parse: (String) throws(Failure) -> Value
    ) throws -> Value {
        let text: String
        do {
            text = try Self.text(of: path)
        } catch {
            throw ValidationError("the file \(path) cannot be read: \(error.reason)")
        }
        do {
            return try parse(text)
        } catch {
            throw ValidationError("the file \(path) cannot be used: \(error.description)")
        }
    }
}

extension TURNSecret {
    /// Reads the secret of a file.
    init(option path: String) throws {
        self = try NamedFile.value(of: path, as: TURNSecret.init(_:))
    }
}

extension LinkProfile {
    /// Parses a link's description, such as `rate=500k,delay=40ms`.
    init(option text: String) throws {
        do {
            try self.init(parsing: text) { path throws(LinkProfileError) in
                do {
                    return try String(contentsOfFile: path, encoding: .utf8)
                } catch {
                    throw .unreadableTrace(path: path, reason: OptionFile.reason(error))
                }
            }
        } catch {
            throw ValidationError("\(error)")
        }
    }
}

extension UInt16 {
    /// Parses the number of a port.
    init(port text: String) throws {
        guard let port = UInt16(text) else { throw ValidationError("give a number from 0 to 65535") }
        self = port
    }
}

extension TransportAddress {
    /// Parses the IP address, without a port, of one machine.
    init(option text: String) throws {
        guard let address = TransportAddress(host: text, port: 0), !address.isUnspecified else {
            throw ValidationError("give the IP address of a machine, such as 192.0.2.7 or 2001:db8::1")
        }
        self = address
    }
}

extension NetworkPrefix {
    /// Parses the addresses of reverse proxies. All addresses would let every client claim to be another one.
    init(option text: String) throws {
        guard let network = NetworkPrefix(parsing: text), network.length > 0,
            TransportAddress(host: text, port: 0)?.isUnspecified != true
        else {
            throw ValidationError("give an IP address or a network, such as 192.0.2.7, 10.0.0.0/8 or 2001:db8::/32")
        }
        self = network
    }
}

extension TransportAddress {
    /// Parses an IP address and a port to listen on.
    init(listening text: String) throws {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let host = parts.dropLast().joined(separator: ":")
        let literal = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        guard let port = parts.last.flatMap({ UInt16($0) }), port > 0,
            let address = TransportAddress(host: literal, port: port), !address.isIPv6 || literal != host
        else {
            throw ValidationError("give an IP address and a port, such as 127.0.0.1:7001 or [::1]:7001")
        }
        self = address
    }
}

extension ICEServer {
    /// Reads the servers of a file.
    static func list(option path: String) throws -> [ICEServer] {
        try NamedFile.value(of: path, as: list(parsing:))
    }

    /// Parses the URI of a STUN or TURN server.
    init(option text: String) throws {
        do {
            try self.init(parsing: text)
        } catch {
            throw ValidationError(error.description)
        }
    }
}
