/// What became of the events of webhooks.
public struct WebhookCounters: Hashable, Sendable {
    public internal(set) var delivered: UInt64 = 0
    /// Requests that were not answered with 2xx; each is repeated.
    public internal(set) var failedRequests: UInt64 = 0
    /// Events that were given up after an hour.
    public internal(set) var expired: UInt64 = 0
    /// Events that the queue had no room for, or that could not be written or read.
    public internal(set) var dropped: UInt64 = 0
    /// Bytes of events that wait.
    public internal(set) var waiting = 0

    /// Adds those of another webhook.
    mutating func add(_ other: WebhookCounters) {
        delivered &+= other.delivered
        failedRequests &+= other.failedRequests
        expired &+= other.expired
        dropped &+= other.dropped
        waiting += other.waiting
    }
}
