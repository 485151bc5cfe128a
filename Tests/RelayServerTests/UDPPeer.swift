import Glibc
import NIOCore
import SecureTransport

/// A client's UDP socket on loopback, blocking with a timeout.
final class UDPPeer: Sendable {
    let descriptor: CInt
    let address: TransportAddress

    init() throws {
        let descriptor = socket(AF_INET, CInt(SOCK_DGRAM.rawValue), 0)
        self.descriptor = descriptor
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                bind(descriptor, name, length) == 0 && getsockname(descriptor, name, &length) == 0
            }
        }
        guard isBound else { throw Failure(code: errno) }
        var timeout = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        address = TransportAddress(ipv4: 0x7F00_0001, port: UInt16(bigEndian: name.sin_port))
    }

    deinit {
        close(descriptor)
    }

    struct Failure: Error {
        var code: CInt
    }

    /// Sends bytes to a port of this machine.
    func send(_ bytes: [UInt8], toPort port: UInt16) {
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = port.bigEndian
        name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                _ = sendto(descriptor, bytes, bytes.count, 0, name, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// The next datagram; nil when none came in ten seconds.
    func receive() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        return count < 0 ? nil : Array(bytes.prefix(count))
    }

    /// Whether no datagram is waiting.
    var isEmpty: Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, CInt(MSG_DONTWAIT) | CInt(MSG_PEEK)) < 0
    }
}
