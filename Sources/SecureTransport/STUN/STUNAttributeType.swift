/// The types of the attributes that ICE uses (RFC 8489, section 18.3; RFC 8445, section 20.1).
struct STUNAttributeType: Hashable, Sendable {
    var rawValue: UInt16

    static let username = STUNAttributeType(rawValue: 0x0006)
    static let messageIntegrity = STUNAttributeType(rawValue: 0x0008)
    static let errorCode = STUNAttributeType(rawValue: 0x0009)
    static let unknownAttributes = STUNAttributeType(rawValue: 0x000A)
    static let messageIntegritySHA256 = STUNAttributeType(rawValue: 0x001C)
    static let xorMappedAddress = STUNAttributeType(rawValue: 0x0020)
    static let priority = STUNAttributeType(rawValue: 0x0024)
    static let useCandidate = STUNAttributeType(rawValue: 0x0025)
    static let fingerprint = STUNAttributeType(rawValue: 0x8028)
    static let iceControlled = STUNAttributeType(rawValue: 0x8029)
    static let iceControlling = STUNAttributeType(rawValue: 0x802A)

    /// Types below 0x8000 have to be understood, or the request is answered with an error (RFC 8489, section 14).
    var isComprehensionRequired: Bool { rawValue < 0x8000 }
}
