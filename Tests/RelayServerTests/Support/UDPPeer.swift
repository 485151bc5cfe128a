import Glibc
import NIOCore
import SecureTransport

@testable import RelayServer
@testable import RoomMedia

/// A UDP socket, such as a client's on loopback, blocking with a timeout.
final class UDPPeer: Sendable {
    let descriptor: CInt
    let address: TransportAddress

    init(host: String = "127.0.0.1") throws {
        let wanted = try SocketAddress(ipAddress: host, port: 0)
        let descriptor = socket(wanted.protocol == .inet6 ? AF_INET6 : AF_INET, CInt(SOCK_DGRAM.rawValue), 0)
        self.descriptor = descriptor
        let isBound = wanted.withSockAddr { name, size in bind(descriptor, name, socklen_t(size)) == 0 }
        var name = [UInt64](repeating: 0, count: 16)
        var length = socklen_t(name.count * MemoryLayout<UInt64>.size)
        let isNamed = name.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return false }
            return getsockname(descriptor, base.assumingMemoryBound(to: sockaddr.self), &length) == 0
        }
        guard isBound, isNamed, let bound = name.withUnsafeBytes({ TransportAddress(systemAddress: $0) }) else {
            throw Failure(code: errno)
        }
        var timeout = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        address = bound
    }

    deinit {
        close(descriptor)
    }

    struct Failure: Error {
        var code: CInt
    }

    /// True if this machine has IPv6.
    static var hasIPv6: Bool { (try? UDPPeer(host: "::")) != nil }

    /// Asks the kernel to tell to which address each datagram was sent.
    func reportDestinations() {
        var isOn: CInt = 1
        let (level, option) = address.isIPv6 ? (CInt(IPPROTO_IPV6), CInt(49)) : (CInt(IPPROTO_IP), CInt(8))
        setsockopt(descriptor, level, option, &isOn, socklen_t(MemoryLayout<CInt>.size))
    }

    /// Sends bytes to a port of this machine.
    func send(_ bytes: [UInt8], toPort port: UInt16, of host: String = "127.0.0.1") {
        try? SocketAddress(ipAddress: host, port: Int(port)).withSockAddr { name, size in
            _ = sendto(descriptor, bytes, bytes.count, 0, name, socklen_t(size))
        }
    }

    /// The next datagram; nil when none came in a minute.
    func receive() -> [UInt8]? { receiveFromSource()?.bytes }

    /// The next datagram and its source; nil when none came in a minute.
    func receiveFromSource() -> (bytes: [UInt8], source: TransportAddress?)? {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        var name = [UInt64](repeating: 0, count: 16)
        var length = socklen_t(name.count * MemoryLayout<UInt64>.size)
        let count = name.withUnsafeMutableBytes { buffer in
            recvfrom(
                descriptor, &bytes, bytes.count, 0, buffer.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length)
        }
        let source = name.withUnsafeBytes { TransportAddress(systemAddress: $0) }
        return count < 0 ? nil : (Array(bytes.prefix(count)), source)
    }

    /// True if no datagram is waiting.
    var isEmpty: Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, CInt(MSG_DONTWAIT) | CInt(MSG_PEEK)) < 0
    }
}
