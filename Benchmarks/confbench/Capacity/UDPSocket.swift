import Glibc
import MediaCore
import NIOCore

/// A UDP socket on loopback that never waits. A class, so that it closes with its last owner; the descriptor never
/// changes, and the system serves calls from any thread.
final class UDPSocket: Sendable {
    private let descriptor: Int32

    private static let largestDatagram = 2048

    init(receiveBufferSize: Int32 = 0) throws {
        descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { throw BenchmarkError.system(reason: "no UDP socket can be opened") }
        if receiveBufferSize > 0 {
            var size = receiveBufferSize
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = Self.loopback(port: 0)
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else { throw BenchmarkError.system(reason: "a UDP socket cannot be bound to loopback") }
    }

    deinit { close(descriptor) }

    /// A port that nobody has just now.
    static func freePort() throws -> UInt16 { try UDPSocket().port() }

    func port() throws -> UInt16 {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard code == 0 else { throw BenchmarkError.system(reason: "a UDP socket does not tell its port") }
        return UInt16(bigEndian: address.sin_port)
    }

    func send(_ datagram: ByteBuffer, to port: UInt16) {
        var address = Self.loopback(port: port)
        _ = datagram.withUnsafeReadableBytes { bytes in
            withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    sendto(
                        descriptor, bytes.baseAddress, bytes.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }
    }

    /// Returns the time at which the system received the datagram that was last read from this socket.
    func makeArrivalClock() -> DatagramArrivalClock { DatagramArrivalClock(descriptor: descriptor) }

    /// The next datagram; nil where none waits.
    func receive() -> ByteBuffer? {
        var count = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: Self.largestDatagram) { buffer, initialized in
            count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            initialized = max(0, count)
        }
        return count >= 0 ? ByteBuffer(bytes: bytes) : nil
    }

    /// The second byte of the next datagram: RTP's marker and payload type; nil where none waits.
    func receiveHeader() -> UInt8? {
        var bytes: (UInt8, UInt8) = (0, 0)
        let count = recv(descriptor, &bytes, 2, Int32(MSG_TRUNC))
        return count >= 2 ? bytes.1 : nil
    }

    private static func loopback(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return address
    }
}
