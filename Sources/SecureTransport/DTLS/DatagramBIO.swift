internal import NIOCore

/// The connection of libssl to datagrams, which the library's own memory BIO does not keep apart.
final class DatagramBIO: MemoryBIO {
    /// The datagram that waits to be read, set before a call into the library.
    var incoming: ByteBuffer?
    /// The datagrams that wait to be sent, oldest first.
    private(set) var outgoing: [ByteBuffer] = []
    /// The number of datagrams that the library has written.
    private(set) var writtenCount: UInt64 = 0

    /// The largest number of datagrams that wait to be sent, several flights. A further one replaces the oldest, as if
    /// the network had lost it.
    private static let maximumOutgoingCount = 32

    /// The oldest datagram to be sent.
    func takeOutgoing() -> ByteBuffer? {
        outgoing.isEmpty ? nil : outgoing.removeFirst()
    }

    override func read(into bytes: UnsafeMutableRawBufferPointer) -> Int? {
        guard let datagram = incoming else { return nil }
        incoming = nil
        // The excess is cut off, as with a socket.
        let count = min(datagram.readableBytes, bytes.count)
        datagram.withUnsafeReadableBytes { source in
            bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: source.prefix(count)))
        }
        return count
    }

    override func write(_ bytes: UnsafeRawBufferPointer) {
        if outgoing.count >= Self.maximumOutgoingCount { outgoing.removeFirst() }
        outgoing.append(ByteBuffer(bytes: bytes))
        writtenCount += 1
    }
}
