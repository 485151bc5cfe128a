public import NIOCore

/// The payload of a packet that repeats earlier ones (RED, RFC 2198): older blocks first, the packet's own last.
public struct RedundantPayload: Hashable, Sendable {
    /// The payload of an earlier packet.
    public struct Block: Hashable, Sendable {
        public var payloadType: UInt8
        /// The age of the payload relative to the packet, in units of its clock; 14 bits.
        public var age: UInt16
        public var payload: ByteBuffer

        public init(payloadType: UInt8, age: UInt16, payload: ByteBuffer) {
            self.payloadType = payloadType
            self.age = age
            self.payload = payload
        }
    }

    /// The oldest block that can be written.
    public static let maximumAge: UInt16 = 0x3FFF
    /// The longest earlier payload that can be written.
    public static let maximumBlockSize = 0x3FF
    /// The largest number of blocks that are read.
    private static let maximumBlockCount = 8

    /// The earlier ones, the oldest first.
    public var earlier: [Block]
    public var payloadType: UInt8
    public var payload: ByteBuffer

    public init(earlier: [Block], payloadType: UInt8, payload: ByteBuffer) {
        self.earlier = earlier
        self.payloadType = payloadType
        self.payload = payload
    }

    /// Reads the payload of a packet.
    public init(parsing bytes: ByteBuffer) throws(RTPError) {
        let structure: StaticString = "RED payload"
        var rest = bytes
        var headers: [(type: UInt8, age: UInt16, length: Int)] = []
        while true {
            let first = try rest.read(UInt8.self, of: structure)
            payloadType = first & 0x7F
            guard first & 0x80 != 0 else { break }
            let high = try rest.read(UInt8.self, of: structure)
            let low = try rest.read(UInt16.self, of: structure)
            guard headers.count < Self.maximumBlockCount else {
                throw .malformed(structure: "\(structure)", reason: "it has more than \(headers.count) blocks")
            }
            headers.append((payloadType, UInt16(high) << 6 | low >> 10, Int(low & 0x3FF)))
        }
        earlier = []
        for header in headers {
            let payload = try rest.read(bytes: header.length, of: structure)
            earlier.append(Block(payloadType: header.type, age: header.age, payload: payload))
        }
        payload = rest
    }

    /// The payload's bytes. Blocks that cannot be written, by their age or length, are left out.
    public func encode() -> ByteBuffer {
        let blocks = earlier.filter {
            $0.age <= Self.maximumAge && $0.payload.readableBytes <= Self.maximumBlockSize
        }
        var bytes = ByteBufferAllocator().buffer(
            capacity: 1 + payload.readableBytes + blocks.reduce(0) { $0 + 4 + $1.payload.readableBytes })
        for block in blocks {
            let length = UInt16(truncatingIfNeeded: block.payload.readableBytes)
            bytes.writeMultipleIntegers(
                0x80 | block.payloadType & 0x7F, UInt8(truncatingIfNeeded: block.age >> 6), block.age << 10 | length)
        }
        bytes.writeInteger(payloadType & 0x7F)
        for block in blocks { bytes.writeImmutableBuffer(block.payload) }
        bytes.writeImmutableBuffer(payload)
        return bytes
    }
}
