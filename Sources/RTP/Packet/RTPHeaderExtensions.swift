public import NIOCore

/// The header extension of an RTP packet (RFC 8285): short values, each under a number that the session description
/// gives a meaning (`a=extmap`).
///
/// Holds the bytes as they came or will be sent; elements are found on access, so that a packet whose extensions
/// nobody reads costs nothing. Writes the one-byte form while it can and the two-byte form from then on.
public struct RTPHeaderExtensions: Hashable, Sendable {
    /// How the elements are framed.
    enum Form: Hashable {
        /// RFC 8285 4.2: identifiers 1 to 14, values of 1 to 16 bytes.
        case oneByte
        /// RFC 8285 4.3: identifiers 1 to 255, values of 0 to 255 bytes.
        case twoByte
        /// Another profile's extension (RFC 3550 5.3.1): kept whole, no elements.
        case opaque
    }

    /// The 16 bits "defined by profile".
    private var profile: UInt16
    /// The elements, with whatever padding they came with; nil when there is no extension.
    var bytes: ByteBuffer?

    private static let oneByteProfile: UInt16 = 0xBEDE
    private static let twoByteProfile: UInt16 = 0x1000

    /// Creates an empty list: no extension is written.
    public init() {
        profile = Self.oneByteProfile
        bytes = nil
    }

    /// Wraps the extension of a received packet: its profile field and what follows the length field.
    public init(profile: UInt16, bytes: ByteBuffer) {
        self.profile = profile
        self.bytes = bytes
    }

    /// Reads the extension of a packet whose payload may still be encrypted, which leaves the header in the clear
    /// (RFC 3711 3.1). Nil where there is none, or where it does not lie within the datagram.
    public init?(ofPacket datagram: ByteBuffer) {
        let start = datagram.readerIndex
        guard let flags = datagram.getInteger(at: start, as: UInt8.self), flags & 0x10 != 0 else { return nil }
        let offset = start + RTPPacket.fixedHeaderSize + 4 * Int(flags & 0x0F)
        guard let profile = datagram.getInteger(at: offset, as: UInt16.self),
            let wordCount = datagram.getInteger(at: offset + 2, as: UInt16.self),
            let bytes = datagram.getSlice(at: offset + 4, length: 4 * Int(wordCount))
        else { return nil }
        self.init(profile: profile, bytes: bytes)
    }

    var form: Form {
        if profile == Self.oneByteProfile { return .oneByte }
        // The low four bits are "appbits", free for the application (RFC 8285 4.3).
        return profile & 0xFFF0 == Self.twoByteProfile ? .twoByte : .opaque
    }

    /// Whether there is nothing to write.
    public var isEmpty: Bool { bytes == nil }

    /// Bytes in the packet, with the profile and length fields and the padding to whole words; zero when empty.
    public var encodedSize: Int {
        guard let bytes else { return 0 }
        return 4 + (bytes.readableBytes + 3) / 4 * 4
    }

    /// The value of the element `id`; nil when there is none. Setting nil removes it.
    ///
    /// Identifier 0 cannot be used, and values longer than 255 bytes are not stored.
    public subscript(id: UInt8) -> ByteBuffer? {
        get {
            guard let range = valueRange(of: id) else { return nil }
            return bytes?.getSlice(at: range.lowerBound, length: range.count)
        }
        set {
            guard let newValue else { return remove(id) }
            guard let index = makeRoom(for: id, length: newValue.readableBytes) else { return }
            bytes?.setBuffer(newValue, at: index)
        }
    }

    /// The identifiers present, in the order of the packet.
    public var ids: [UInt8] {
        var ids: [UInt8] = []
        scan { id, _ in
            ids.append(id)
            return true
        }
        return ids
    }

    /// Appends the extension, with its profile and length fields, to `buffer`; nothing when empty.
    func encode(into buffer: inout ByteBuffer) {
        guard let bytes else { return }
        let wordCount = min((bytes.readableBytes + 3) / 4, Int(UInt16.max))
        buffer.writeMultipleIntegers(profile, UInt16(truncatingIfNeeded: wordCount))
        let padding = wordCount * 4 - bytes.readableBytes
        if padding >= 0 {
            buffer.writeImmutableBuffer(bytes)
            buffer.writeRepeatingByte(0, count: padding)
        } else if let whole = bytes.getSlice(at: bytes.readerIndex, length: wordCount * 4) {
            buffer.writeImmutableBuffer(whole)
        }
    }
}

extension RTPHeaderExtensions {
    /// Where the value of element `id` lies in `bytes`.
    func valueRange(of id: UInt8) -> Range<Int>? {
        var found: Range<Int>?
        scan { candidate, range in
            guard candidate == id else { return true }
            found = range
            return false
        }
        return found
    }

    /// Calls `body` with each element's identifier and the place of its value in `bytes`, until it answers false.
    ///
    /// Returns whether the bytes were well-formed as far as they were read. What is malformed ends the list: the
    /// elements in front of it count (RFC 8285 4.2).
    @discardableResult
    func scan(_ body: (UInt8, Range<Int>) -> Bool) -> Bool {
        guard let bytes else { return true }
        let form = form
        guard form != .opaque else { return false }
        return bytes.withUnsafeReadableBytes { raw in
            var position = 0
            while position < raw.count {
                let first = raw[position]
                position += 1
                if first == 0 { continue }
                let id: UInt8
                let length: Int
                if form == .oneByte {
                    id = first >> 4
                    length = Int(first & 0x0F) + 1
                    // 15 is reserved and 0 with a length is not padding: both end the list.
                    if id == 0 || id == 15 { return false }
                } else {
                    guard position < raw.count else { return false }
                    id = first
                    length = Int(raw[position])
                    position += 1
                }
                guard length <= raw.count - position else { return false }
                let start = bytes.readerIndex + position
                if !body(id, start..<(start + length)) { return true }
                position += length
            }
            return true
        }
    }

    /// Makes an element `id` of `length` bytes, whose content is undefined, and returns where it lies in `bytes`.
    ///
    /// An element of that length is reused in place; nil when RFC 8285 has no way to write it.
    mutating func makeRoom(for id: UInt8, length: Int) -> Int? {
        guard id != 0, length >= 0, length <= 255 else { return nil }
        var present: Range<Int>?
        let isWellFormed = scan { candidate, range in
            if candidate == id, present == nil { present = range }
            return true
        }
        if let present, present.count == length { return present.lowerBound }

        let fitsOneByte = id <= 14 && (1...16).contains(length)
        let needsTwoByte = form == .twoByte || (form == .oneByte && !fitsOneByte) || (form == .opaque && !fitsOneByte)
        let keepsForm = bytes == nil || (form == .twoByte) == needsTwoByte
        if bytes == nil {
            profile = needsTwoByte ? Self.twoByteProfile : Self.oneByteProfile
            bytes = ByteBufferAllocator().buffer(capacity: max(16, length + 2))
        } else if present != nil || !isWellFormed || !keepsForm {
            rebuild(without: id, asTwoByte: needsTwoByte)
        }
        return append(id: id, length: length)
    }

    /// Removes element `id`; the extension goes when nothing is left of it.
    private mutating func remove(_ id: UInt8) {
        guard valueRange(of: id) != nil else { return }
        rebuild(without: id, asTwoByte: form == .twoByte)
        if bytes?.readableBytes == 0 { self = RTPHeaderExtensions() }
    }

    /// Writes the elements anew, without `id`, in the form asked for. The elements must fit it.
    private mutating func rebuild(without id: UInt8, asTwoByte: Bool) {
        let old = self
        let twoByteProfile = form == .twoByte ? profile : Self.twoByteProfile
        profile = asTwoByte ? twoByteProfile : Self.oneByteProfile
        bytes = ByteBufferAllocator().buffer(capacity: (old.bytes?.readableBytes ?? 0) + 32)
        old.scan { candidate, range in
            guard candidate != id, let value = old.bytes?.getSlice(at: range.lowerBound, length: range.count) else {
                return true
            }
            if let index = append(id: candidate, length: range.count) { bytes?.setBuffer(value, at: index) }
            return true
        }
    }

    /// Appends an element with zeros for its value and returns where the value lies.
    private mutating func append(id: UInt8, length: Int) -> Int? {
        if form == .oneByte {
            bytes?.writeInteger(id << 4 | UInt8(truncatingIfNeeded: length - 1))
        } else {
            bytes?.writeMultipleIntegers(id, UInt8(truncatingIfNeeded: length))
        }
        let index = bytes?.writerIndex
        bytes?.writeRepeatingByte(0, count: length)
        return index
    }
}
