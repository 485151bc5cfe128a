internal import COpenSSL

/// Compares secrets with the claims of strangers.
public enum SecretComparison {
    /// Returns true if two byte strings are equal, in a time that depends only on their lengths: the time of a
    /// comparison that ends at the first difference would reveal how much of a guess is right.
    public static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
    }
}
