import CSocket
import Glibc
import MediaCore
import NIOCore
import RoomMedia
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
        /// Its source, and our address to which it was sent if the socket reports that (`PacketInfo`).
        var path: NetworkPath
        /// The time at which the kernel received it; never before that of a datagram read earlier.
        var arrival: MonotonicInstant

        /// Takes the payload out, so that it has no owner here any more.
        mutating func takePayload() -> ByteBuffer {
            var taken = ByteBuffer()
            swap(&taken, &payload)
            return taken
        }
    }

    /// The clocks at a read.
    private struct Clocks {
        var wall: timespec
        /// The monotonic clock, read after the wall clock: a thread that is held up between the two finds datagrams
        /// late. An early one would count as proof of a shorter path.
        var present: MonotonicInstant
        /// The time that the turn works with.
        var turn: MonotonicInstant
    }

    /// `recvmmsg` as a function of the socket and the messages: the number received, or the negated error number.
    typealias SystemCall = (CInt, UnsafeMutableBufferPointer<received_entry>) -> Int

    /// Room for a datagram. A larger one is cut, and then fails authentication.
    static let datagramCapacity = 2048
    /// The most datagrams that one system call receives.
    static let datagramsPerCall = 32
    /// Room for an IPv6 address, which keeps the next one aligned.
    private static let addressCapacity = 32
    /// Room for control messages: a timestamp (a header and two 64-bit words), and our address.
    private static let controlSpace = 32 + PacketInfo.maximumSpace
    /// `SO_TIMESTAMPNS` of 64-bit systems (asm-generic/socket.h); control messages bear the same number.
    private static let optionTimestamp: CInt = 35
    /// A datagram that waited longer than this was not read late: the wall clock was set.
    private static let longestWait = 1_000_000_000

    private let descriptor: CInt
    private let systemCall: SystemCall
    private let messages: UnsafeMutableBufferPointer<received_entry>
    private let vectors: UnsafeMutableBufferPointer<iovec>
    private let payloads: UnsafeMutableRawBufferPointer
    private let addresses: UnsafeMutableRawBufferPointer
    private let controls: UnsafeMutableRawBufferPointer
    private var lastArrival = MonotonicInstant.zero

    /// - Parameters:
    ///   - descriptor: A UDP socket. The receiver does not own it.
    ///   - systemCall: Receives without waiting; a test may replace it.
    init(descriptor: CInt, systemCall: @escaping SystemCall = DatagramReceiver.receiveMessages) {
        self.descriptor = descriptor
        self.systemCall = systemCall
        let count = Self.datagramsPerCall
        messages = .allocate(capacity: count)
        vectors = .allocate(capacity: count)
        payloads = .allocate(byteCount: count * Self.datagramCapacity, alignment: 64)
        addresses = .allocate(byteCount: count * Self.addressCapacity, alignment: 8)
        controls = .allocate(byteCount: count * Self.controlSpace, alignment: 8)
        controls.initializeMemory(as: UInt8.self, repeating: 0)
        messages.initialize(repeating: received_entry())
        for index in 0..<count {
            vectors.initializeElement(
                at: index,
                to: iovec(
                    iov_base: payloads.baseAddress?.advanced(by: index * Self.datagramCapacity),
                    iov_len: Self.datagramCapacity))
            messages[index].message.name = addresses.baseAddress?.advanced(by: index * Self.addressCapacity)
            messages[index].message.vectors = UnsafeMutableRawPointer(vectors.baseAddress?.advanced(by: index))
            messages[index].message.vector_count = 1
            messages[index].message.control = controls.baseAddress?.advanced(by: index * Self.controlSpace)
        }
        var isOn: CInt = 1
        // Without stamps, datagrams have arrived when they are read.
        setsockopt(descriptor, SOL_SOCKET, Self.optionTimestamp, &isOn, socklen_t(MemoryLayout<CInt>.size))
    }

    deinit {
        messages.deallocate()
        vectors.deallocate()
        payloads.deallocate()
        addresses.deallocate()
        controls.deallocate()
    }

    /// Appends the datagrams that wait in the socket to `batch`, `limit` at most, in the order in which they came.
    func read(into batch: inout [Datagram], limit: Int, now: MonotonicInstant) {
        var wallClock = timespec()
        clock_gettime(CLOCK_REALTIME, &wallClock)
        let clocks = Clocks(wall: wallClock, present: .now(), turn: now)
        var left = limit
        while left > 0 {
            let wanted = min(left, Self.datagramsPerCall)
            let count = receive(atMost: wanted)
            for index in 0..<count {
                if let datagram = datagram(index, clocks: clocks) { batch.append(datagram) }
            }
            // Fewer came than there is room for: the socket is empty.
            guard count == wanted else { return }
            left -= count
        }
    }

    /// Fills messages, and returns their number.
    private func receive(atMost count: Int) -> Int {
        // The kernel has written the lengths of what it received before.
        for index in 0..<count {
            messages[index].message.name_length = CUnsignedInt(Self.addressCapacity)
            messages[index].message.control_length = CUnsignedLong(Self.controlSpace)
        }
        var outcome: Int
        repeat {
            outcome = systemCall(descriptor, UnsafeMutableBufferPointer(rebasing: messages[..<count]))
        } while outcome == -Int(EINTR)
        // Besides an empty socket this is an error of the socket: the channel meets it as well, and closes.
        return min(max(outcome, 0), count)
    }

    /// Returns a received datagram; nil if its source has no address that we know.
    private func datagram(_ index: Int, clocks: Clocks) -> Datagram? {
        let entry = messages[index]
        let (stamp, local) = readControl(of: entry.message)
        let arrival = arrival(stamp: stamp, clocks: clocks)
        let name = UnsafeRawBufferPointer(
            start: entry.message.name, count: min(Int(entry.message.name_length), Self.addressCapacity))
        guard let source = TransportAddress(systemAddress: name) else { return nil }
        let bytes = UnsafeRawBufferPointer(
            start: vectors[index].iov_base, count: min(Int(entry.size), Self.datagramCapacity))
        return Datagram(
            payload: ByteBuffer(bytes: bytes), path: NetworkPath(remote: source, local: local), arrival: arrival)
    }

    private func arrival(stamp: timespec?, clocks: Clocks) -> MonotonicInstant {
        // A datagram that came while earlier ones were read has a stamp after the wall clock: it came now.
        let waited = stamp.map { clocks.wall.nanoseconds &- $0.nanoseconds } ?? 0
        let isTold = waited >= 0 && waited <= Self.longestWait
        let told = isTold ? clocks.present - .nanoseconds(waited) : clocks.turn
        lastArrival = max(min(told, clocks.turn), lastArrival)
        return lastArrival
    }

    /// Returns what the kernel tells about a datagram beside its bytes.
    private func readControl(of message: received_message) -> (stamp: timespec?, local: TransportAddress?) {
        var stamp: timespec?
        var local: TransportAddress?
        let headerSize = MemoryLayout<cmsghdr>.size
        var rest = UnsafeRawBufferPointer(
            start: message.control, count: min(Int(clamping: message.control_length), Self.controlSpace))
        while rest.count >= headerSize {
            let header = rest.loadUnaligned(as: cmsghdr.self)
            guard header.cmsg_len >= headerSize, header.cmsg_len <= rest.count else { break }
            let value = UnsafeRawBufferPointer(rebasing: rest[headerSize..<header.cmsg_len])
            if header.cmsg_level == SOL_SOCKET, header.cmsg_type == Self.optionTimestamp {
                if value.count >= MemoryLayout<timespec>.size { stamp = value.loadUnaligned(as: timespec.self) }
            } else if let address = PacketInfo.address(level: header.cmsg_level, type: header.cmsg_type, value) {
                local = address
            }
            // The next header is aligned, unless this message is the last.
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst((header.cmsg_len + 7) & ~7))
        }
        return (stamp, local)
    }

    static func receiveMessages(
        descriptor: CInt, messages: UnsafeMutableBufferPointer<received_entry>
    ) -> Int {
        let received = receive_messages(
            descriptor, messages.baseAddress, CUnsignedInt(messages.count), CInt(MSG_DONTWAIT), nil)
        return received < 0 ? -Int(errno) : Int(received)
    }
}

extension timespec {
    /// Nanoseconds since the clock's origin.
    fileprivate var nanoseconds: Int { tv_sec &* 1_000_000_000 &+ tv_nsec }
}
