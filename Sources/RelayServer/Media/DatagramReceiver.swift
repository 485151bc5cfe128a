import Glibc
import MediaCore
import NIOCore
import SecureTransport

/// Reads datagrams from a socket, with the times at which the kernel received them (`SO_TIMESTAMPNS`, socket(7)).
///
/// Congestion control measures the spacing of packets. The time of reading would show the load of the reader instead: a
/// loop that was blocked for 20 ms finds all packets at once, as if the network had stood still.
///
/// A receiver belongs to the socket's event loop.
final class DatagramReceiver {
    /// A datagram that arrived.
    struct Datagram: Sendable {
        var payload: ByteBuffer
        var source: TransportAddress
        /// The time at which the kernel received it; never before that of a datagram read earlier.
        var arrival: MonotonicInstant

        /// Takes the payload out, so that it has no owner here any more.
        mutating func takePayload() -> ByteBuffer {
            var taken = ByteBuffer()
            swap(&taken, &payload)
            return taken
        }
    }

    /// `recvmsg` as a function of the socket and the message: bytes received, or the negated error number.
    typealias SystemCall = (CInt, UnsafeMutablePointer<msghdr>) -> Int

    /// Room for a datagram. A larger one is cut, and then fails authentication.
    static let datagramCapacity = 2048
    /// Room for an IPv6 address.
    private static let addressCapacity = 28
    /// `CMSG_SPACE` of a timestamp: a header and two 64-bit words.
    private static let controlSpace = 32
    /// `SO_TIMESTAMPNS` of 64-bit systems (asm-generic/socket.h); control messages bear the same number.
    private static let optionTimestamp: CInt = 35
    /// A datagram that waited longer than this was not read late: the wall clock was set.
    private static let longestWait = 1_000_000_000

    private let descriptor: CInt
    private let systemCall: SystemCall
    private let vector: UnsafeMutablePointer<iovec>
    private let address: UnsafeMutableRawBufferPointer
    private let control: UnsafeMutableRawBufferPointer
    private var lastArrival = MonotonicInstant.zero

    /// - Parameters:
    ///   - descriptor: A UDP socket. The receiver does not own it.
    ///   - systemCall: Receives without waiting; a test may replace it.
    init(descriptor: CInt, systemCall: @escaping SystemCall = DatagramReceiver.receiveMessage) {
        self.descriptor = descriptor
        self.systemCall = systemCall
        vector = .allocate(capacity: 1)
        vector.initialize(
            to: iovec(
                iov_base: .allocate(byteCount: Self.datagramCapacity, alignment: 8), iov_len: Self.datagramCapacity))
        address = .allocate(byteCount: Self.addressCapacity, alignment: 8)
        control = .allocate(byteCount: Self.controlSpace, alignment: 8)
        control.initializeMemory(as: UInt8.self, repeating: 0)
        var isOn: CInt = 1
        // Without stamps, datagrams have arrived when they are read.
        setsockopt(descriptor, SOL_SOCKET, Self.optionTimestamp, &isOn, socklen_t(MemoryLayout<CInt>.size))
    }

    deinit {
        vector.pointee.iov_base.deallocate()
        vector.deallocate()
        address.deallocate()
        control.deallocate()
    }

    /// Appends the datagrams that wait in the socket to `batch`, `limit` at most, in the order in which they came.
    func read(into batch: inout [Datagram], limit: Int, now: MonotonicInstant) {
        var wallClock = timespec()
        clock_gettime(CLOCK_REALTIME, &wallClock)
        for _ in 0..<limit {
            var message = msghdr()
            message.msg_name = address.baseAddress
            message.msg_namelen = socklen_t(address.count)
            message.msg_iov = vector
            message.msg_iovlen = 1
            message.msg_control = control.baseAddress
            message.msg_controllen = control.count
            var outcome: Int
            repeat { outcome = systemCall(descriptor, &message) } while outcome == -Int(EINTR)
            // Besides an empty socket this is an error of the socket: the channel meets it as well, and closes.
            guard outcome >= 0 else { return }
            let arrival = arrival(of: message, wallClock: wallClock, now: now)
            let name = UnsafeRawBufferPointer(rebasing: address.prefix(Int(message.msg_namelen)))
            guard let source = TransportAddress(systemAddress: name) else { continue }
            let bytes = UnsafeRawBufferPointer(
                start: vector.pointee.iov_base, count: min(outcome, Self.datagramCapacity))
            batch.append(Datagram(payload: ByteBuffer(bytes: bytes), source: source, arrival: arrival))
        }
    }

    private func arrival(of message: msghdr, wallClock: timespec, now: MonotonicInstant) -> MonotonicInstant {
        // A datagram that came while earlier ones were read has a stamp after `wallClock`: it came now.
        let waited = stamp(of: message).map { wallClock.nanoseconds &- $0.nanoseconds } ?? 0
        let isTold = waited >= 0 && waited <= Self.longestWait
        lastArrival = max(now - .nanoseconds(isTold ? waited : 0), lastArrival)
        return lastArrival
    }

    private func stamp(of message: msghdr) -> timespec? {
        guard message.msg_controllen >= Self.controlSpace else { return nil }
        let header = control.load(as: cmsghdr.self)
        guard header.cmsg_level == SOL_SOCKET, header.cmsg_type == Self.optionTimestamp else { return nil }
        return control.load(fromByteOffset: MemoryLayout<cmsghdr>.size, as: timespec.self)
    }

    static func receiveMessage(descriptor: CInt, message: UnsafeMutablePointer<msghdr>) -> Int {
        let received = recvmsg(descriptor, message, CInt(MSG_DONTWAIT))
        return received < 0 ? -Int(errno) : received
    }
}

extension timespec {
    /// Nanoseconds since the clock's origin.
    fileprivate var nanoseconds: Int { tv_sec &* 1_000_000_000 &+ tv_nsec }
}
