import MediaCore

/// A failure of an encoder: its receivers see no new pictures until it works again.
public struct EncoderFailure: Hashable, Sendable, Encodable {
    /// The error, and its remedy.
    public var reason: String
    public var failures: Int
    /// The time in milliseconds after which it is tried again.
    public var retryAfter: Double

    public init(reason: String, failures: Int, retryAfter: Duration) {
        self.reason = reason
        self.failures = failures
        self.retryAfter = retryAfter.milliseconds
    }
}
