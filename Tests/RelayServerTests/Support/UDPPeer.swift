import Glibc
import NIOCore
import SecureTransport

@testable import RelayServer

/// A client's UDP socket on loopback, blocking with a timeout.
final class UDPPeer: Sendable {
    let descriptor: CInt
    let address: TransportAddress

    init() throws {
        let descriptor = socket(AF_INET, CInt(SOCK_DGRAM.rawValue), 0)
        self.descriptor = descriptor
        let isBound = try SocketAddress(ipAddress: "127.0.0.1", port: 0).withSockAddr { name, size in
            bind(descriptor, name, socklen_t(size)) == 0
        }
        var name = [UInt64](repeating: 0, count: 16)
        var length = socklen_t(name.count * MemoryLayout<UInt64>.size)
        let isNamed = name.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return false }
            return getsockname(descriptor, base.assumingMemoryBound(to: sockaddr.self), &length) == 0
        }
        guard isBound, isNamed, let bound = name.withUnsafeBytes({ TransportAddress(systemAddress: $0) }) else {
            throw Failure(code: errno)
        }
        var timeout = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        address = bound
    }

    deinit {
        close(descriptor)
    }

    struct Failure: Error {
        var code: CInt
    }

    /// Sends bytes to a port of this machine.
    func send(_ bytes: [UInt8], toPort port: UInt16) {
        try? SocketAddress(ipAddress: "127.0.0.1", port: Int(port)).withSockAddr { name, size in
            _ = sendto(descriptor, bytes, bytes.count, 0, name, socklen_t(size))
        }
    }

    /// The next datagram; nil when none came in ten seconds.
    func receive() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        return count < 0 ? nil : Array(bytes.prefix(count))
    }

    /// True if no datagram is waiting.
    var isEmpty: Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, CInt(MSG_DONTWAIT) | CInt(MSG_PEEK)) < 0
    }
}
