public import NIOCore

/// The header extension of an RTP packet (RFC 8285): short values, each with a number whose meaning the session
/// description defines (`a=extmap`).
///
/// It holds the received or future bytes; elements are found on access, so that unread extensions cost nothing. The
/// usual few bytes need no memory of their own. It writes the one-byte form while possible, then the two-byte form.
public struct RTPHeaderExtensions: Sendable {
    /// The framing of the elements.
    enum Form: Hashable {
        /// RFC 8285 4.2: identifiers 1 to 14, values of 1 to 16 bytes.
        case oneByte
        /// RFC 8285 4.3: identifiers 1 to 255, values of 0 to 255 bytes.
        case twoByte
        /// Another profile's extension (RFC 3550 5.3.1): kept whole, no elements.
        case opaque
    }

    private enum Storage {
        case none
        case inline(InlineBytes)
        case buffer(ByteBuffer)
    }

    /// The 16 bits "defined by profile".
    private var profile: UInt16
    /// The elements, with whatever padding they came with.
    private var storage: Storage

    private static let oneByteProfile: UInt16 = 0xBEDE
    private static let twoByteProfile: UInt16 = 0x1000

    /// Creates an empty list: no extension is written.
    public init() {
        profile = Self.oneByteProfile
        storage = .none
    }

    /// Wraps the extension of a received packet: its profile field and the bytes after the length field.
    public init(profile: UInt16, bytes: ByteBuffer) {
        self.profile = profile
        storage = .buffer(bytes)
    }

    /// Reads the extension of a packet whose payload may still be encrypted, because the header is not (RFC 3711 3.1).
    /// Nil if there is none, or if it exceeds the datagram.
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

    /// True if there is nothing to write.
    public var isEmpty: Bool {
        if case .none = storage { true } else { false }
    }

    private var byteCount: Int {
        switch storage {
        case .none: 0
        case .inline(let bytes): bytes.count
        case .buffer(let bytes): bytes.readableBytes
        }
    }

    /// Bytes in the packet, with the profile and length fields and the padding to whole words; zero when empty.
    public var encodedSize: Int { isEmpty ? 0 : 4 + (byteCount + 3) / 4 * 4 }

    /// The value of the element `id`; nil when there is none. Setting nil removes it.
    ///
    /// Identifier 0 cannot be used, and values longer than 255 bytes are not stored.
    public subscript(id: UInt8) -> ByteBuffer? {
        get {
            valueRange(of: id).map(value)
        }
        set {
            guard let newValue else { return remove(id) }
            set(newValue.readableBytesView, id: id)
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
        guard !isEmpty else { return }
        withBytes { bytes in
            let wordCount = min((bytes.count + 3) / 4, Int(UInt16.max))
            buffer.writeInteger(UInt32(profile) << 16 | UInt32(truncatingIfNeeded: wordCount))
            buffer.writeBytes(UnsafeRawBufferPointer(rebasing: bytes.prefix(wordCount * 4)))
            if wordCount * 4 > bytes.count { buffer.writeRepeatingByte(0, count: wordCount * 4 - bytes.count) }
        }
    }
}

extension RTPHeaderExtensions: Hashable {
    public static func == (left: Self, right: Self) -> Bool {
        guard left.profile == right.profile, left.isEmpty == right.isEmpty else { return false }
        return left.withBytes { left in right.withBytes { left.elementsEqual($0) } }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(profile)
        withBytes { hasher.combine(bytes: $0) }
    }
}

extension RTPHeaderExtensions {
    /// The elements' bytes; none if there is no extension.
    private func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        switch storage {
        case .none: body(UnsafeRawBufferPointer(start: nil, count: 0))
        case .inline(let bytes): bytes.withUnsafeBytes(body)
        case .buffer(let bytes): bytes.withUnsafeReadableBytes(body)
        }
    }

    private mutating func withMutableBytes(_ body: (UnsafeMutableRawBufferPointer) -> Void) {
        switch storage {
        case .none: break
        case .inline(var bytes):
            bytes.withUnsafeMutableBytes(body)
            storage = .inline(bytes)
        case .buffer(var bytes):
            // The only owner does not copy.
            storage = .none
            bytes.withUnsafeMutableReadableBytes(body)
            storage = .buffer(bytes)
        }
    }

    /// The bytes in a range of them.
    func value(in range: Range<Int>) -> ByteBuffer {
        if case .buffer(let bytes) = storage {
            return bytes.getSlice(at: bytes.readerIndex + range.lowerBound, length: range.count) ?? ByteBuffer()
        }
        return withBytes { bytes in
            bytes.indices.contains(range.lowerBound) && range.upperBound <= bytes.count
                ? ByteBuffer(bytes: bytes[range]) : ByteBuffer()
        }
    }

    /// The number that the bytes in a range of them are, four at most, the most significant first.
    func number(in range: Range<Int>) -> UInt32 {
        withBytes { bytes in
            bytes[range.clamped(to: 0..<bytes.count)].prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
        }
    }

    /// Writes the value of element `id`, unless RFC 8285 has no way to write it.
    mutating func set(_ value: some Collection<UInt8>, id: UInt8) {
        guard let start = makeRoom(for: id, length: value.count) else { return }
        withMutableBytes { bytes in
            UnsafeMutableRawBufferPointer(rebasing: bytes[start...]).copyBytes(from: value)
        }
    }

    /// Writes a number of `length` bytes, four at most, as the value of element `id`, the most significant byte first.
    mutating func set(_ number: UInt32, length: Int, id: UInt8) {
        withUnsafeBytes(of: number.bigEndian) { set($0.suffix(length), id: id) }
    }

    /// The range of element `id`'s value among the bytes.
    func valueRange(of id: UInt8) -> Range<Int>? {
        var found: Range<Int>?
        scan { candidate, range in
            guard candidate == id else { return true }
            found = range
            return false
        }
        return found
    }

    /// Calls `body` with each element's identifier and the range of its value among the bytes, until it returns false.
    ///
    /// Returns true if the bytes that were read are well-formed. A malformed element ends the list: those before it
    /// count (RFC 8285 4.2).
    @discardableResult
    func scan(_ body: (UInt8, Range<Int>) -> Bool) -> Bool {
        guard !isEmpty else { return true }
        let form = form
        guard form != .opaque else { return false }
        return withBytes { raw in
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
                if !body(id, position..<(position + length)) { return true }
                position += length
            }
            return true
        }
    }

    /// Makes an element `id` of `length` bytes, whose content is undefined, and returns its range among the bytes.
    ///
    /// An element of that length is reused in place; nil if RFC 8285 cannot represent it.
    private mutating func makeRoom(for id: UInt8, length: Int) -> Int? {
        guard id != 0, length >= 0, length <= 255 else { return nil }
        var present: Range<Int>?
        let isWellFormed = scan { candidate, range in
            if candidate == id, present == nil { present = range }
            return true
        }
        if let present, present.count == length { return present.lowerBound }

        let fitsOneByte = id <= 14 && (1...16).contains(length)
        let needsTwoByte = form == .twoByte || (form == .oneByte && !fitsOneByte) || (form == .opaque && !fitsOneByte)
        let keepsForm = isEmpty || (form == .twoByte) == needsTwoByte
        if isEmpty {
            profile = needsTwoByte ? Self.twoByteProfile : Self.oneByteProfile
            storage = .inline(InlineBytes())
        } else if present != nil || !isWellFormed || !keepsForm {
            rebuild(without: id, asTwoByte: needsTwoByte)
        }
        return append(id: id, length: length)
    }

    /// Removes element `id`; the extension goes when nothing is left of it.
    private mutating func remove(_ id: UInt8) {
        guard valueRange(of: id) != nil else { return }
        rebuild(without: id, asTwoByte: form == .twoByte)
        if byteCount == 0 { self = RTPHeaderExtensions() }
    }

    /// Writes the elements again, without `id`, in the requested form, which must suit them.
    private mutating func rebuild(without id: UInt8, asTwoByte: Bool) {
        let old = self
        let twoByteProfile = form == .twoByte ? profile : Self.twoByteProfile
        profile = asTwoByte ? twoByteProfile : Self.oneByteProfile
        storage = .inline(InlineBytes())
        old.scan { candidate, range in
            guard candidate != id else { return true }
            let start = append(id: candidate, length: range.count)
            old.withBytes { source in
                withMutableBytes { bytes in
                    UnsafeMutableRawBufferPointer(rebasing: bytes[start...]).copyBytes(from: source[range])
                }
            }
            return true
        }
    }

    /// Appends an element of zeros and returns the index of its value.
    private mutating func append(id: UInt8, length: Int) -> Int {
        let end = byteCount
        if form == .oneByte {
            appendZeros(1 + length)
            withMutableBytes { $0[end] = id << 4 | UInt8(truncatingIfNeeded: length - 1) }
            return end + 1
        }
        appendZeros(2 + length)
        withMutableBytes {
            $0[end] = id
            $0[end + 1] = UInt8(truncatingIfNeeded: length)
        }
        return end + 2
    }

    private mutating func appendZeros(_ count: Int) {
        if case .inline(var bytes) = storage, bytes.append(zeros: count) {
            storage = .inline(bytes)
            return
        }
        var buffer: ByteBuffer
        if case .buffer(let bytes) = storage {
            buffer = bytes
            storage = .none
        } else {
            buffer = withBytes { ByteBuffer(bytes: $0) }
        }
        buffer.writeRepeatingByte(0, count: count)
        storage = .buffer(buffer)
    }
}

/// A few bytes that need no memory of their own.
struct InlineBytes: Sendable {
    static let capacity = 24

    private var words: (UInt64, UInt64, UInt64) = (0, 0, 0)
    private(set) var count = 0

    /// Appends zeros. Returns true if there was room.
    mutating func append(zeros: Int) -> Bool {
        guard zeros >= 0, zeros <= Self.capacity - count else { return false }
        count += zeros
        return true
    }

    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        Swift.withUnsafeBytes(of: words) { body(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }

    mutating func withUnsafeMutableBytes<Result>(_ body: (UnsafeMutableRawBufferPointer) -> Result) -> Result {
        let count = count
        return Swift.withUnsafeMutableBytes(of: &words) { body(UnsafeMutableRawBufferPointer(rebasing: $0[..<count])) }
    }
}
