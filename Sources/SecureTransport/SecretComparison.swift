internal import COpenSSL

/// Compares secrets with what strangers claim to know of them.
public enum SecretComparison {
    /// Whether two byte strings are equal, in a time that depends on nothing but their lengths: a comparison that ends
    /// at the first difference tells, by the time it takes, how much of a guess is right.
    public static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
    }
}
