import MediaCore
import RTP

/// Bounds on the rates of a line's video that the two sides ask each other for.
struct VideoLimits {
    /// The most that is of use to us; nil: that is not known.
    var wanted: BitRate? {
        didSet { if wanted != oldValue { confirmedSource = nil } }
    }
    /// The source that has confirmed the limit (TMMBN). One that takes its place knows nothing of it.
    private(set) var confirmedSource: UInt32?
    /// Bounds that receivers of our video ask for, by the SSRC of the asker, and when the asker was last heard.
    private var requests: [(limit: BitRateLimit, heard: MonotonicInstant)] = []

    /// A packet's overhead, about: IP, UDP, RTP with its extensions, SRTP's trailer.
    static let packetOverhead = DataSize(bytes: 64)
    /// An endpoint asks under one or two of its SSRCs; more are not remembered.
    private static let maximumRequests = 4
    /// A source without a report for this time is gone: reports come every five seconds, or up to half as much later
    /// (RFC 3550, section 6.3.1).
    private static let lifetime = Duration.seconds(30)

    /// Takes a limit that the other side requests.
    mutating func request(_ limit: BitRateLimit, by owner: UInt32, now: MonotonicInstant) {
        var limit = limit
        limit.ssrc = owner
        requests.removeAll { $0.limit.ssrc == owner }
        if requests.count >= Self.maximumRequests { requests.removeFirst() }
        requests.append((limit, now))
    }

    /// A report of a source came.
    mutating func heard(_ owner: UInt32, now: MonotonicInstant) {
        for index in requests.indices where requests[index].limit.ssrc == owner { requests[index].heard = now }
    }

    /// Forgets what sources asked for that have said goodbye, or have been silent for long. Returns true if one had.
    mutating func forgetRequests(of gone: [UInt32], now: MonotonicInstant) -> Bool {
        let count = requests.count
        requests.removeAll { gone.contains($0.limit.ssrc) || now - $0.heard > Self.lifetime }
        return requests.count < count
    }

    /// Takes the limits that a source confirms.
    ///
    /// - Parameter ssrc: Our source that asked.
    mutating func notified(_ limits: [BitRateLimit], by source: UInt32, ssrc: UInt32) {
        guard let wanted else { return }
        confirmedSource = limits.contains { $0.ssrc == ssrc && $0.maximum <= wanted } ? source : nil
    }

    /// The request that decides: the lowest.
    var decisive: BitRateLimit? { requests.min { $0.limit.maximum < $1.limit.maximum }?.limit }

    /// The most of our video, headers excluded; nil if no receiver has asked for a bound.
    func sendable(payloadSize: DataSize) -> BitRate? {
        decisive.map { limit in
            let payload = Double(max(payloadSize.bytes, 1))
            return limit.maximum * (payload / (payload + Double(limit.overhead.bytes)))
        }
    }
}
