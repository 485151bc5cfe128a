import NIOCore

/// Texts about sources, above all their canonical names (RFC 3550 6.5).
public struct SourceDescription: Hashable, Sendable {
    /// The texts about one source.
    public struct Chunk: Hashable, Sendable {
        public var ssrc: UInt32
        public var items: [Item]

        public init(ssrc: UInt32, items: [Item]) {
            self.ssrc = ssrc
            self.items = items
        }

        /// A chunk with nothing but the canonical name.
        public init(ssrc: UInt32, cname: String) {
            self.init(ssrc: ssrc, items: [Item(type: Item.cname, text: cname)])
        }

        /// The name that binds the streams of one endpoint together (RFC 3550 6.5.1).
        public var cname: String? { items.first { $0.type == Item.cname }?.text }
    }

    /// A text.
    public struct Item: Hashable, Sendable {
        /// The type of the canonical name.
        public static let cname: UInt8 = 1

        /// CNAME 1, NAME 2, EMAIL 3, PHONE 4, LOC 5, TOOL 6, NOTE 7, PRIV 8; zero ends a list and is not written.
        public var type: UInt8
        /// The text, written as up to 255 bytes of UTF-8; a longer one is cut between two characters.
        public var text: String

        public init(type: UInt8, text: String) {
            self.type = type
            self.text = text
        }
    }

    /// The chunks. Those after the 31st are written as further packets.
    public var chunks: [Chunk]

    public init(chunks: [Chunk]) {
        self.chunks = chunks
    }

    init(parsing body: ByteBuffer, chunkCount: UInt8) throws(RTPError) {
        var body = body
        chunks = []
        for _ in 0..<chunkCount {
            let start = body.readerIndex
            let ssrc = try body.read(UInt32.self, of: "source description chunk")
            var items: [Item] = []
            // Some senders leave the last list's terminator out: the packet's end will do.
            while let type = body.readInteger(as: UInt8.self), type != 0 {
                let length = try body.read(UInt8.self, of: "source description item")
                let text = try body.read(bytes: Int(length), of: "source description item")
                items.append(Item(type: type, text: String(decoding: text.readableBytesView, as: UTF8.self)))
            }
            chunks.append(Chunk(ssrc: ssrc, items: items))
            let padding = (4 - (body.readerIndex - start) % 4) % 4
            body.moveReaderIndex(forwardBy: min(padding, body.readableBytes))
        }
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeRTCP(type: RTCPType.sourceDescription, listing: chunks) { buffer, part in
            for chunk in part { chunk.encode(into: &buffer) }
        }
    }
}

extension SourceDescription.Chunk {
    /// The size in bytes beyond which items are left out, so that 31 chunks fit a packet's length field.
    private static var maximumSize: Int { 8000 }

    fileprivate func encode(into buffer: inout ByteBuffer) {
        let start = buffer.writerIndex
        buffer.writeInteger(ssrc)
        for item in items where item.type != 0 && buffer.writerIndex - start < Self.maximumSize {
            let text = item.text.utf8(upTo: 255)
            buffer.writeMultipleIntegers(item.type, UInt8(truncatingIfNeeded: text.count))
            buffer.writeBytes(text)
        }
        // At least one zero ends the list; more fill the word.
        buffer.writeRepeatingByte(0, count: 4 - (buffer.writerIndex - start) % 4)
    }
}

extension String {
    /// The longest start of the text that has at most `limit` bytes and cuts no character in two.
    func utf8(upTo limit: Int) -> Substring.UTF8View {
        guard utf8.count > limit else { return self[...].utf8 }
        var end = startIndex
        var size = 0
        while end < endIndex {
            size += self[end].utf8.count
            if size > limit { break }
            end = index(after: end)
        }
        return self[..<end].utf8
    }
}
