public import NIOCore

/// Repeats a stream's last payloads in its packets (RFC 2198). So shared encodings can be repeated for one receiver
/// alone.
public struct RedundancySender: Sendable {
    /// The largest number of payloads that are repeated in one packet.
    public static let maximumDepth = 2

    /// The last payloads, the oldest first.
    private var last: [(timestamp: UInt32, payload: ByteBuffer)] = []

    public init() { last.reserveCapacity(Self.maximumDepth + 1) }

    /// Returns the payload that repeats up to `depth` payloads before this one; nil if there is nothing to repeat. The
    /// payload is kept for the next ones.
    ///
    /// - Parameters:
    ///   - depth: The number of repetitions; zero for none.
    ///   - payloadType: The payload type of the payload itself.
    public mutating func payload(
        _ payload: ByteBuffer, timestamp: UInt32, payloadType: UInt8, depth: Int
    ) -> ByteBuffer? {
        defer {
            if last.count >= Self.maximumDepth { last.removeFirst() }
            last.append((timestamp, payload))
        }
        var blocks: [RedundantPayload.Block] = []
        for earlier in last.suffix(min(max(depth, 0), Self.maximumDepth)) {
            let age = timestamp &- earlier.timestamp
            // After a pause there is nothing to be repeated.
            guard age <= UInt32(RedundantPayload.maximumAge),
                earlier.payload.readableBytes <= RedundantPayload.maximumBlockSize
            else {
                blocks.removeAll()
                continue
            }
            blocks.append(
                RedundantPayload.Block(
                    payloadType: payloadType, age: UInt16(truncatingIfNeeded: age), payload: earlier.payload))
        }
        guard !blocks.isEmpty else { return nil }
        return RedundantPayload(earlier: blocks, payloadType: payloadType, payload: payload).encode()
    }
}
