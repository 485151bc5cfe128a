public import MediaCore

/// Measures how evenly frames arrive on the screen.
///
/// A freeze is a gap between two frames of at least max(3 × δ, δ + 150 ms), where δ is the mean gap of the last 30
/// frames; the whole gap counts as frozen (W3C webrtc-stats, `freezeCount` and `totalFreezesDuration`). A sender sends
/// fewer frames of a picture in which nothing moves: those gaps count as freezes, too, and are counted apart as pauses.
public struct FreezeMeter: Sendable {
    /// The number of gaps over which the mean δ is taken.
    public static let window = 30

    private var gaps: [Duration] = []
    private var next = 0
    private var gapSum: Duration = .zero
    private var lastFrame: MonotonicInstant?
    private var recentGap: Duration = .zero
    /// The last frame's time on its sender's clock; nil if frames are missing since.
    private var lastMade: MediaTime?

    /// Frames seen.
    public private(set) var frameCount = 0
    /// Freezes that ended.
    public private(set) var freezeCount = 0
    /// The total duration of those freezes.
    public private(set) var freezeDuration: Duration = .zero
    /// The number of freezes during which the sender made no frame.
    public private(set) var pauseCount = 0
    /// The total duration of these pauses.
    public private(set) var pauseDuration: Duration = .zero
    /// The longest gap between two frames.
    public private(set) var longestGap: Duration = .zero

    public init() {
        gaps.reserveCapacity(Self.window)
    }

    /// A frame did not come, or came and cannot be shown.
    public mutating func frameMissed() { lastMade = nil }

    /// A frame is shown.
    ///
    /// - Parameter made: Its time on its sender's clock.
    public mutating func frameShown(now: MonotonicInstant, made: MediaTime) {
        frameCount += 1
        defer {
            lastFrame = now
            lastMade = made
        }
        guard let lastFrame else { return }
        let gap = max(.zero, now - lastFrame)
        longestGap = max(longestGap, gap)
        recentGap = max(recentGap, gap)
        if let threshold, gap >= threshold {
            freezeCount += 1
            freezeDuration += gap
            // Beyond the time between the two frames at their sender, this one came in time.
            if let lastMade, gap - (made - lastMade).duration < threshold {
                pauseCount += 1
                pauseDuration += gap
            }
        }
        gapSum += gap
        if gaps.count < Self.window {
            gaps.append(gap)
        } else {
            gapSum -= gaps[next]
            gaps[next] = gap
            next = (next + 1) % Self.window
        }
    }

    /// Returns the longest gap that ended since the last call, or lasts at `now`.
    public mutating func takeRecentGap(now: MonotonicInstant) -> Duration {
        defer { recentGap = .zero }
        return max(recentGap, lastFrame.map { now - $0 } ?? .zero)
    }

    /// The length from which on a gap is a freeze; nil before the second frame.
    public var threshold: Duration? {
        guard !gaps.isEmpty else { return nil }
        let mean = gapSum / gaps.count
        return max(mean * 3, mean + .milliseconds(150))
    }

    /// Returns the time for which the picture has stood still at `now`, if that is a freeze already; otherwise zero.
    public func ongoingFreeze(now: MonotonicInstant) -> Duration {
        guard let lastFrame, let threshold else { return .zero }
        let gap = now - lastFrame
        return gap >= threshold ? gap : .zero
    }

    /// All frozen time up to `now`, with a freeze that still lasts.
    public func totalFreezeDuration(now: MonotonicInstant) -> Duration {
        freezeDuration + ongoingFreeze(now: now)
    }

    /// Returns the number of freezes that began up to `now`, including one that continues.
    public func totalFreezeCount(now: MonotonicInstant) -> Int {
        freezeCount + (ongoingFreeze(now: now) > .zero ? 1 : 0)
    }
}
