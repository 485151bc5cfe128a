import MediaCore

/// An encoder that failed: those who share it see no new pictures until it works again.
public struct EncoderFailure: Hashable, Sendable, Encodable {
    /// The error, and its remedy.
    public var reason: String
    /// How often in a row.
    public var failures: Int
    /// After how many milliseconds it is tried again.
    public var retryAfter: Double

    public init(reason: String, failures: Int, retryAfter: Duration) {
        self.reason = reason
        self.failures = failures
        self.retryAfter = retryAfter.milliseconds
    }
}
