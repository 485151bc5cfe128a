import Glibc
import NIOCore
import SecureTransport

/// Sends datagrams through a socket that an event loop reads, in batches and at once.
///
/// A run of datagrams of one size on one path takes one system call if the kernel segments UDP (`UDP_SEGMENT`,
/// Linux 4.18): it gathers the datagrams from their own memory, so nothing is copied here. Nothing is kept for later:
/// datagrams that the socket's buffer does not take are dropped and counted, because late media is worthless. An error
/// affects only its own datagrams, unlike with a channel's writes, where an unreachable peer closes the socket for
/// everyone.
///
/// A sender belongs to the socket's event loop.
final class DatagramSender {
    /// The fate of the datagrams.
    private(set) var counters = MediaSocketCounters()

    /// `sendmsg` as a function of the socket and the message: bytes sent, or the negated error number.
    typealias SystemCall = (CInt, UnsafePointer<msghdr>) -> Int

    private let descriptor: CInt
    private let systemCall: SystemCall
    private let isIPv6: Bool
    private var segmentsOffloaded: Bool
    private var pending: [(datagram: ByteBuffer, path: NetworkPath)] = []
    private var failedPaths: Set<NetworkPath> = []
    /// One vector for each datagram of a run.
    private let vectors: UnsafeMutablePointer<iovec>
    /// The control messages that carry the segment size and our address.
    private let control: UnsafeMutableRawPointer

    /// The most datagrams in a run: `UDP_MAX_SEGMENTS` of the kernels that have the fewest.
    private static let maximumRunLength = 64
    /// The most bytes in a run: a little under the length field's limit, with room for headers.
    private static let maximumRunSize = 65_000
    /// Paths that are remembered until they are taken.
    private static let maximumFailedPaths = 256
    /// Datagrams queued before they are sent without waiting for a flush.
    private static let maximumPending = 512
    /// `CMSG_SPACE` and `CMSG_LEN` of a 16-bit value.
    private static let segmentSpace = 24
    private static let segmentLength = 18
    private static let controlSpace = segmentSpace + PacketInfo.maximumSpace
    private static let levelUDP: CInt = 17
    private static let optionSegment: CInt = 103

    /// - Parameters:
    ///   - descriptor: A UDP socket, non-blocking. The sender does not own it.
    ///   - isIPv6: True if the socket takes IPv6 addresses.
    ///   - usesSegmentationOffload: True to try segmentation offload; if it fails, it is not tried again.
    ///   - systemCall: Sends; a test may replace it.
    init(
        descriptor: CInt, isIPv6: Bool, usesSegmentationOffload: Bool,
        systemCall: @escaping SystemCall = DatagramSender.sendMessage
    ) {
        self.descriptor = descriptor
        self.systemCall = systemCall
        self.isIPv6 = isIPv6
        segmentsOffloaded = usesSegmentationOffload
        vectors = .allocate(capacity: Self.maximumRunLength)
        vectors.initialize(repeating: iovec(), count: Self.maximumRunLength)
        control = .allocate(byteCount: Self.controlSpace, alignment: 8)
        control.initializeMemory(as: UInt8.self, repeating: 0, count: Self.controlSpace)
        pending.reserveCapacity(Self.maximumPending)
    }

    deinit {
        vectors.deallocate()
        control.deallocate()
    }

    /// Queues a datagram for the next flush.
    func enqueue(_ datagram: ByteBuffer, on path: NetworkPath) {
        pending.append((datagram, path))
        if pending.count >= Self.maximumPending { flush() }
    }

    /// Sends everything queued.
    func flush() {
        var start = 0
        while start < pending.count {
            let end = segmentsOffloaded ? endOfRun(from: start) : start + 1
            sendRun(start..<end)
            start = end
        }
        pending.removeAll(keepingCapacity: true)
    }

    /// The paths on which nothing can be sent, since our address or the route is gone, since the last call.
    func takeFailedPaths() -> Set<NetworkPath> {
        defer { if !failedPaths.isEmpty { failedPaths = [] } }
        return failedPaths
    }

    /// Returns the end of the run that begins at `start`: one path, and one size except for a shorter last one.
    private func endOfRun(from start: Int) -> Int {
        let (first, path) = pending[start]
        var size = first.readableBytes
        var end = start + 1
        while end < pending.count, end - start < Self.maximumRunLength {
            let next = pending[end]
            size += next.datagram.readableBytes
            guard next.path == path, next.datagram.readableBytes <= first.readableBytes,
                next.datagram.readableBytes > 0, size <= Self.maximumRunSize
            else { break }
            end += 1
            if next.datagram.readableBytes < first.readableBytes { break }
        }
        return end
    }

    private func sendRun(_ run: Range<Int>) {
        switch transmit(run) {
        case .success:
            record(sent: run)
        case .failure(let error) where run.count > 1 && Self.concernsSegmentation(error.code):
            // The route's device cannot segment, or a segment exceeds its MTU. One by one the datagrams may still go.
            if error.code != EMSGSIZE && error.code != EINVAL { segmentsOffloaded = false }
            for index in run { sendRun(index..<index + 1) }
        case .failure(let error) where error.code == EAGAIN || error.code == ENOBUFS:
            counters.droppedBufferFull += UInt64(run.count)
        case .failure(let error):
            counters.droppedUnsendable += UInt64(run.count)
            if Self.concernsPath(error.code), failedPaths.count < Self.maximumFailedPaths {
                failedPaths.insert(pending[run.lowerBound].path)
            }
        }
    }

    private func record(sent run: Range<Int>) {
        counters.datagramsSent += UInt64(run.count)
        counters.systemCalls += 1
        for index in run { counters.bytesSent += UInt64(pending[index].datagram.readableBytes) }
    }

    private static func concernsSegmentation(_ code: CInt) -> Bool {
        [EIO, EINVAL, EMSGSIZE, EOPNOTSUPP, ENOPROTOOPT].contains(code)
    }

    /// Linux answers EINVAL where the local address of a path is none of the machine's any more.
    private static func concernsPath(_ code: CInt) -> Bool {
        [EADDRNOTAVAIL, EINVAL, ENETUNREACH, ENETDOWN, ENODEV].contains(code)
    }

    private struct SystemError: Error {
        var code: CInt
    }

    private func transmit(_ run: Range<Int>) -> Result<Void, SystemError> {
        let path = pending[run.lowerBound].path
        guard let address = SystemAddress(path.remote, isIPv6Socket: isIPv6) else {
            return .failure(SystemError(code: EAFNOSUPPORT))
        }
        for (offset, index) in run.enumerated() {
            // The pointer outlives the closure: `pending` holds the buffer, unchanged, until the call below has
            // returned.
            pending[index].datagram.withUnsafeReadableBytes { bytes in
                vectors[offset] = iovec(
                    iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
            }
        }
        return address.withUnsafeBytes { address in
            var message = msghdr()
            message.msg_name = UnsafeMutableRawPointer(mutating: address.baseAddress)
            message.msg_namelen = socklen_t(address.count)
            message.msg_iov = vectors
            message.msg_iovlen = run.count
            var controlLength = 0
            if run.count > 1 {
                var header = cmsghdr()
                header.cmsg_len = Self.segmentLength
                header.cmsg_level = Self.levelUDP
                header.cmsg_type = Self.optionSegment
                control.storeBytes(of: header, as: cmsghdr.self)
                let size = UInt16(clamping: pending[run.lowerBound].datagram.readableBytes)
                control.storeBytes(of: size, toByteOffset: MemoryLayout<cmsghdr>.size, as: UInt16.self)
                controlLength = Self.segmentSpace
            }
            if let local = path.local {
                controlLength += PacketInfo.write(
                    local, isIPv6Socket: isIPv6, to: control.advanced(by: controlLength))
            }
            if controlLength > 0 {
                message.msg_control = control
                message.msg_controllen = controlLength
            }
            var outcome: Int
            repeat { outcome = systemCall(descriptor, &message) } while outcome == -Int(EINTR)
            return outcome < 0 ? .failure(SystemError(code: CInt(truncatingIfNeeded: -outcome))) : .success(())
        }
    }

    static func sendMessage(descriptor: CInt, message: UnsafePointer<msghdr>) -> Int {
        let sent = sendmsg(descriptor, message, CInt(MSG_DONTWAIT))
        return sent < 0 ? -Int(errno) : sent
    }
}
