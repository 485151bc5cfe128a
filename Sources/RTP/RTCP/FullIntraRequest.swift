import NIOCore

/// Sources are to send a picture that refers to no other (RFC 5104 4.3.1).
public struct FullIntraRequest: Hashable, Sendable {
    static let format: UInt8 = 4

    /// A request to one source.
    public struct Entry: Hashable, Sendable {
        public var ssrc: UInt32
        /// Counts requests: one with the number of the last is a repetition of it.
        public var commandSequence: UInt8

        public init(ssrc: UInt32, commandSequence: UInt8) {
            self.ssrc = ssrc
            self.commandSequence = commandSequence
        }
    }

    public var senderSSRC: UInt32
    public var entries: [Entry]

    public init(senderSSRC: UInt32, entries: [Entry]) {
        self.senderSSRC = senderSSRC
        self.entries = entries
    }

    init(parsing body: ByteBuffer) throws(RTPError) {
        var body = body
        senderSSRC = try body.read(of: "full intra request")
        // The media source of the header is unused; each entry names its own.
        _ = try body.read(UInt32.self, of: "full intra request")
        entries = []
        while body.readableBytes > 0 {
            let ssrc = try body.read(UInt32.self, of: "entry of a full intra request")
            let command = try body.read(UInt32.self, of: "entry of a full intra request")
            entries.append(Entry(ssrc: ssrc, commandSequence: UInt8(truncatingIfNeeded: command >> 24)))
        }
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeRTCP(type: RTCPType.payloadSpecificFeedback, countOrFormat: Self.format) {
            $0.writeMultipleIntegers(senderSSRC, UInt32(0))
            for entry in entries.prefix(0x7FFE) {
                $0.writeMultipleIntegers(entry.ssrc, UInt32(entry.commandSequence) << 24)
            }
        }
    }
}
