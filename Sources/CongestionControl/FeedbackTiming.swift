public import MediaCore

/// The rate at which a receiver sends feedback: a share of the received rate, within bounds.
public struct FeedbackTiming: Hashable, Sendable {
    /// The size of a feedback packet with its headers.
    public var size: DataSize
    /// The part of the received rate that feedback may take, from 0 to 1.
    public var share: Double
    /// The shortest and the longest time between two feedback packets.
    public var bounds: ClosedRange<Duration>

    public init(size: DataSize, share: Double, bounds: ClosedRange<Duration>) {
        self.size = size
        self.share = share
        self.bounds = bounds
    }

    /// Feedback at one interval, whatever is received.
    public static func every(_ interval: Duration) -> FeedbackTiming {
        FeedbackTiming(size: .zero, share: 1, bounds: interval...interval)
    }

    /// The timing of transport-wide feedback of libwebrtc's receivers: packets of 68 bytes, 5 % of the rate, at least
    /// 50 ms apart (`TransportSequenceNumberFeedbackGenenerator`). Here they are at most 100 ms apart, in libwebrtc 250
    /// ms: libwebrtc uses the rate that it sends, and a simulated receiver sends nothing.
    public static let browser = FeedbackTiming(
        size: DataSize(bytes: 68), share: 0.05, bounds: .milliseconds(50)...(.milliseconds(100)))

    /// The timing of the relay and of `confclient` towards senders that state no interval: 20 times a second.
    public static let standard = FeedbackTiming.every(.milliseconds(50))

    /// The interval that the relay and `confclient` state in their descriptions.
    public static let statedInterval = Duration.milliseconds(25)

    /// The timing between the relay and `confclient`.
    public static let confclient = FeedbackTiming.stated(statedInterval)

    /// The timing towards a sender that stated an interval: this interval if 5 % of the received rate carries it, and
    /// at least 20 times a second (or as often as stated, if that is less often).
    public static func stated(_ interval: Duration) -> FeedbackTiming {
        FeedbackTiming(
            size: browser.size, share: browser.share, bounds: interval...max(interval, standard.bounds.upperBound))
    }

    /// The time from one feedback packet to the next while this much is received.
    public func interval(receiving rate: BitRate) -> Duration {
        let perSecond = share * Double(rate.bitsPerSecond)
        guard size > .zero, perSecond > 0 else { return bounds.upperBound }
        let interval = Duration.seconds(clamping: Double(size.bytes) * 8 / perSecond)
        return min(max(interval, bounds.lowerBound), bounds.upperBound)
    }
}
