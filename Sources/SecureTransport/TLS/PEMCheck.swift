/// Tells whether certificates and keys in PEM can be used, before a library gets them that would only say so when it
/// makes a connection.
public enum PEMCheck {
    /// Checks that there is a certificate, and that all there are can be read.
    public static func check(certificates: [UInt8]) throws(TLSError) {
        _ = try PEMCertificates(certificates)
    }

    /// Checks a chain of certificates and the key of its first.
    public static func check(key: [UInt8], of certificates: [UInt8]) throws(TLSError) {
        try PEMCertificates(certificates).check(try PEMKey(key))
    }
}
