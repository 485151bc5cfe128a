import MediaCore
import NIOCore
public import NetworkSimulation
import SecureTransport

/// A slow network inside the client: what it sends and what it receives each pass a model of a link first.
struct EmulatedAccessLink {
    /// A datagram under way and its other end.
    struct Parcel: Sendable {
        var datagram: ByteBuffer
        var peer: TransportAddress
    }

    private var model: LinkModel<Parcel>
    private let headerSize: Int

    init(profile: LinkProfile, isIPv6: Bool, seed: UInt64, start: MonotonicInstant) {
        model = LinkModel(profile: profile, seed: seed, start: start)
        headerSize = Self.headerSize(isIPv6: isIPv6).bytes
    }

    /// What IP and UDP headers add to a datagram.
    static func headerSize(isIPv6: Bool) -> DataSize { DataSize(bytes: isIPv6 ? 48 : 28) }

    /// Gives a datagram to the link.
    mutating func send(_ datagram: ByteBuffer, peer: TransportAddress, now: MonotonicInstant) {
        model.send(
            Parcel(datagram: datagram, peer: peer),
            size: DataSize(bytes: datagram.readableBytes + headerSize), now: now)
    }

    /// The next datagram that came out by now.
    mutating func deliver(now: MonotonicInstant) -> Parcel? { model.deliver(now: now) }

    /// When to call `deliver` next.
    var nextDelivery: MonotonicInstant { model.nextDelivery }

    var statistics: LinkModel<Parcel>.Statistics { model.statistics }
}

extension LinkProfile {
    /// Reads the value of `--uplink` or `--downlink`.
    ///
    /// - Throws: `ClientError.usage`, or `.unreadableInput` for a trace that cannot be read.
    public init(argument: String) throws(ClientError) {
        do {
            try self.init(parsing: argument) { path throws(LinkProfileError) in
                do {
                    return String(buffer: try InputFile(path: path).readToEnd(limit: 256 << 20))
                } catch {
                    throw .unreadableTrace(path: path, reason: "\(error)")
                }
            }
        } catch {
            switch error {
            case .unreadableTrace(let path, _): throw .unreadableInput(path: path, reason: "it cannot be read")
            default: throw .usage(reason: "'\(argument)' describes no link: \(error)")
            }
        }
    }
}
