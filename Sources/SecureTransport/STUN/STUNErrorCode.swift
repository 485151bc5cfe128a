/// The codes of error responses that ICE uses (RFC 8489, section 14.8; RFC 8445, section 20.2).
public enum STUNErrorCode {
    /// The request is malformed.
    public static let badRequest: UInt16 = 400
    /// The credentials are missing or wrong.
    public static let unauthenticated: UInt16 = 401
    /// The request has attributes that have to be understood and are not.
    public static let unknownAttribute: UInt16 = 420
    /// Both sides take the same role.
    public static let roleConflict: UInt16 = 487
}
