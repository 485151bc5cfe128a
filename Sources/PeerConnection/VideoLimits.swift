import MediaCore
import RTP

/// Bounds on the rates of a line's video that the two sides ask each other for.
package struct VideoLimits {
    /// The most that is of use to us; nil: that is not known.
    var wanted: BitRate? {
        didSet { if wanted != oldValue { isConfirmed = false } }
    }
    /// True if the sender has confirmed the limit (TMMBN).
    package private(set) var isConfirmed = false
    /// Bounds that receivers of our video ask for, by the SSRC of the asker.
    private var requests: [BitRateLimit] = []

    /// A packet's overhead, about: IP, UDP, RTP with its extensions, SRTP's trailer.
    static let packetOverhead = DataSize(bytes: 64)
    /// An endpoint asks under one or two of its SSRCs; more are not remembered.
    private static let maximumRequests = 4

    /// Takes a limit that the other side requests.
    mutating func request(_ limit: BitRateLimit, by owner: UInt32) {
        var limit = limit
        limit.ssrc = owner
        requests.removeAll { $0.ssrc == owner }
        if requests.count >= Self.maximumRequests { requests.removeFirst() }
        requests.append(limit)
    }

    /// Takes the limits that the sender confirms.
    mutating func notified(_ limits: [BitRateLimit], ssrc: UInt32) {
        guard let wanted else { return }
        isConfirmed = limits.contains { $0.ssrc == ssrc && $0.maximum <= wanted }
    }

    /// The request that decides: the lowest.
    var decisive: BitRateLimit? { requests.min { $0.maximum < $1.maximum } }

    /// The most of our video, headers excluded; nil if no receiver has asked for a bound.
    func sendable(payloadSize: DataSize) -> BitRate? {
        decisive.map { limit in
            let payload = Double(max(payloadSize.bytes, 1))
            return limit.maximum * (payload / (payload + Double(limit.overhead.bytes)))
        }
    }
}
