internal import MediaCore
public import NIOCore

/// A received STUN message (RFC 8489), with the attributes that ICE uses (RFC 8445, section 7).
///
/// It shares the datagram's storage; parsing allocates nothing. Do not trust it before `isAuthentic(key:)`
/// returned true: parsing checks the form and the FINGERPRINT only.
public struct STUNMessage: Sendable {
    /// The upper bits of the type (RFC 8489, section 5).
    public enum Class: UInt8, Hashable, Sendable {
        case request
        case indication
        case successResponse
        case errorResponse
    }

    /// The role that a check's sender claims (RFC 8445, section 7.1.2).
    public enum Role: Hashable, Sendable {
        case controlling(tieBreaker: UInt64)
        case controlled(tieBreaker: UInt64)
    }

    /// The 20 bytes before the attributes.
    public static let headerSize = 20
    /// The largest message that is parsed, in bytes. STUN over UDP keeps below the path's MTU (RFC 8489, section 6.1).
    public static let maximumSize = 1_280
    /// The method of ICE's checks.
    public static let bindingMethod: UInt16 = 1

    static let magicCookie: UInt32 = 0x2112_A442
    static let fingerprintMask: UInt32 = 0x5354_554E
    /// The most types of unknown attributes that are remembered for the answer.
    static let unknownAttributeLimit = 4

    public private(set) var messageClass: Class
    public private(set) var method: UInt16
    public private(set) var transactionID: STUNTransactionID
    /// PRIORITY: the priority of a peer-reflexive candidate that comes from this check.
    public private(set) var priority: UInt32?
    /// ICE-CONTROLLING or ICE-CONTROLLED; nil if the sender says neither.
    public private(set) var role: Role?
    /// USE-CANDIDATE: the sender nominates the pair.
    public private(set) var nominates = false
    /// XOR-MAPPED-ADDRESS: the source of the request as the sender of a response saw it.
    public private(set) var mappedAddress: TransportAddress?
    /// ERROR-CODE of an error response, 300 to 699.
    public private(set) var errorCode: UInt16?
    /// True if there is a FINGERPRINT; it is right then.
    public private(set) var hasFingerprint = false
    /// The message's size in bytes.
    public var byteCount: Int { bytes.readableBytes }

    /// Attributes that have to be understood and are not, the first few of them.
    private(set) var unknownAttributes: InlineTypes = InlineTypes()

    /// The message from index 0.
    private(set) var bytes: ByteBuffer
    private(set) var integrityOffset: Int?
    private var usernameRange: Range<Int>?

    /// Parses the readable bytes, all of which must be the message.
    public init(parsing datagram: ByteBuffer) throws(STUNError) {
        bytes = datagram.slice()
        let size = bytes.readableBytes
        guard (Self.headerSize...Self.maximumSize).contains(size),
            let type = bytes.getInteger(at: 0, as: UInt16.self), let length = bytes.getInteger(at: 2, as: UInt16.self),
            let cookie = bytes.getInteger(at: 4, as: UInt32.self), let high = bytes.getInteger(at: 8, as: UInt32.self),
            let low = bytes.getInteger(at: 12, as: UInt64.self)
        else { throw .unacceptableSize(byteCount: size) }
        guard type & 0xC000 == 0, cookie == Self.magicCookie,
            let messageClass = Class(rawValue: UInt8((type & 0x0100) >> 7 | (type & 0x0010) >> 4))
        else { throw .notSTUN }
        guard length.isMultiple(of: 4), Int(length) == size - Self.headerSize else { throw .wrongLength }
        self.messageClass = messageClass
        // The method's twelve bits have the class's two between them (RFC 8489, figure 3).
        method = type & 0x000F | (type & 0x00E0) >> 1 | (type & 0x3E00) >> 2
        transactionID = STUNTransactionID(high: high, low: low)
        try readAttributes()
    }

    /// USERNAME; nil if there is none.
    public var username: String? {
        guard let range = usernameRange else { return nil }
        return bytes.getString(at: range.lowerBound, length: range.count)
    }

    /// Returns true if USERNAME has these bytes.
    func hasUsername(_ expected: [UInt8]) -> Bool {
        guard let range = usernameRange, range.count == expected.count else { return false }
        return bytes.withUnsafeReadableBytes { $0[range].elementsEqual(expected) }
    }

    /// Returns true if MESSAGE-INTEGRITY was made with this password (the short-term credentials of RFC 8489, section
    /// 9.1); false without one.
    func isAuthentic(key: HMACSHA1Key) -> Bool {
        guard let offset = integrityOffset, let given = HMACSHA1(bytes, at: offset + 4) else { return false }
        // The attribute itself counts in the length (RFC 8489, section 14.5); it lies within `maximumSize`.
        let length = UInt16(truncatingIfNeeded: offset + 4 + HMACSHA1.size - Self.headerSize)
        guard let expected = HMACSHA1(ofSTUN: bytes, upTo: offset, headerLength: length, key: key) else { return false }
        return expected.matches(given)
    }

    private mutating func readAttributes() throws(STUNError) {
        var offset = Self.headerSize
        let end = bytes.readableBytes
        while offset < end {
            guard let rawType = bytes.getInteger(at: offset, as: UInt16.self),
                let length = bytes.getInteger(at: offset + 2, as: UInt16.self)
            else { throw .wrongLength }
            let type = STUNAttributeType(rawValue: rawType)
            let value = offset + 4..<offset + 4 + Int(length)
            guard value.upperBound <= end, !hasFingerprint else { throw .malformedAttribute(type: rawType) }
            // Attributes after the integrity, except the fingerprint, are not protected by it: they are ignored (RFC
            // 8489, section 14.5).
            if integrityOffset == nil || type == .fingerprint { try read(type, in: value) }
            offset = (value.upperBound + 3) & ~3
        }
    }

    /// Reads one attribute. Of several of one type the first one counts (RFC 8489, section 14).
    private mutating func read(_ type: STUNAttributeType, in value: Range<Int>) throws(STUNError) {
        func integer<Integer: FixedWidthInteger>() throws(STUNError) -> Integer {
            guard value.count == MemoryLayout<Integer>.size, let value: Integer = bytes.getInteger(at: value.lowerBound)
            else { throw .malformedAttribute(type: type.rawValue) }
            return value
        }
        switch type {
        case .username:
            // Two fragments of up to 256 bytes and a colon (RFC 8839, section 5.4).
            guard value.count <= 513 else { throw .malformedAttribute(type: type.rawValue) }
            usernameRange = usernameRange ?? value
        case .messageIntegrity:
            guard value.count == HMACSHA1.size else { throw .malformedAttribute(type: type.rawValue) }
            integrityOffset = value.lowerBound - 4
        case .fingerprint:
            let given: UInt32 = try integer()
            let checksum = CRC32.checksum(of: bytes, upTo: value.lowerBound - 4)
            guard given == checksum ^ Self.fingerprintMask else { throw .wrongFingerprint }
            hasFingerprint = true
        case .priority:
            let given: UInt32 = try integer()
            priority = priority ?? given
        case .iceControlling:
            let tieBreaker: UInt64 = try integer()
            role = role ?? .controlling(tieBreaker: tieBreaker)
        case .iceControlled:
            let tieBreaker: UInt64 = try integer()
            role = role ?? .controlled(tieBreaker: tieBreaker)
        case .useCandidate: nominates = true
        case .xorMappedAddress:
            guard let address = TransportAddress(xorMapped: bytes, in: value, transactionID: transactionID) else {
                throw .malformedAttribute(type: type.rawValue)
            }
            mappedAddress = mappedAddress ?? address
        case .errorCode:
            guard value.count >= 4, let word = bytes.getInteger(at: value.lowerBound, as: UInt32.self),
                (3...6).contains(word >> 8 & 7), word & 0xFF < 100
            else { throw .malformedAttribute(type: type.rawValue) }
            errorCode = errorCode ?? UInt16(word >> 8 & 7) * 100 + UInt16(word & 0xFF)
        case .messageIntegritySHA256, .unknownAttributes: break
        default:
            if type.isComprehensionRequired { unknownAttributes.append(type.rawValue) }
        }
    }

    /// A few attribute types, held without a heap allocation.
    struct InlineTypes: Sendable {
        private var packed: UInt64 = 0
        private(set) var count = 0

        /// Adds a type; types beyond the limit are left out.
        mutating func append(_ type: UInt16) {
            guard count < STUNMessage.unknownAttributeLimit else { return }
            packed = packed << 16 | UInt64(type)
            count += 1
        }

        /// The type at an index below `count`.
        subscript(index: Int) -> UInt16 { UInt16(truncatingIfNeeded: packed >> UInt64(16 * (count - 1 - index))) }
    }
}

/// The codes of error responses that ICE uses (RFC 8489, section 14.8; RFC 8445, section 20.2).
public enum STUNErrorCode {
    /// The request has attributes that have to be understood and are not.
    public static let unknownAttribute: UInt16 = 420
    /// Both sides take the same role.
    public static let roleConflict: UInt16 = 487
}
