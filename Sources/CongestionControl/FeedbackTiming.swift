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

    /// The timing of the relay and of `confclient`: 20 times a second.
    public static let confclient = FeedbackTiming.every(.milliseconds(50))

    /// The time from one feedback packet to the next while this much is received.
    public func interval(receiving rate: BitRate) -> Duration {
        let perSecond = share * Double(rate.bitsPerSecond)
        guard size > .zero, perSecond > 0 else { return bounds.upperBound }
        let interval = Duration.seconds(clamping: Double(size.bytes) * 8 / perSecond)
        return min(max(interval, bounds.lowerBound), bounds.upperBound)
    }
}
