import MediaCore

/// A source as its room sees it at a tick.
struct SourceReading {
    /// Frames that arrived, complete or abandoned.
    var framesArrived: UInt64 = 0
    /// Frames that were not decoded because their references are missing.
    var framesWithheld: UInt64 = 0
    var packetsLost: UInt64 = 0
    var keyframes: UInt64 = 0
    /// Keyframes that the relay asked the sender for.
    var keyframeRequests: UInt64 = 0
    var framesDecoded: UInt64 = 0
    /// Frames dropped before or by the decoder.
    var framesDropped: UInt64 = 0
    /// Frames left out on purpose.
    var framesSkipped: UInt64 = 0
    var skipMode = DecodeSkipMode.full
    /// True if nothing new is shown on purpose.
    var isPicturePaused = false
    /// The time at which the newest picture was decoded.
    var pictureTime: MonotonicInstant?
    /// The size of the picture that is shown, upright; nil while none is.
    var dimensions: VideoDimensions?
    /// True if the participant sends this source and it is on.
    var isOn = true
    /// True for a screen share, which may stand still without a fault.
    var mayStandStill = false
}

/// One source's last minute.
final class SourceTimeline {
    struct Bucket: Sendable {
        var arrived: UInt16 = 0
        var withheld: UInt16 = 0
        var packetsLost: UInt16 = 0
        var keyframes: UInt16 = 0
        var keyframeRequests: UInt16 = 0
        var decoded: UInt16 = 0
        var dropped: UInt16 = 0
        var skipped: UInt16 = 0
    }

    typealias State = RoomTimelineSnapshot.SourceState

    struct StateChange: Sendable {
        var state: State
        var start: MonotonicInstant
    }

    struct FormatChange: Sendable {
        var time: MonotonicInstant
        var dimensions: VideoDimensions
    }

    let source: SourceID
    let publicID: String
    let name: String
    private(set) var ring = TimelineRing(empty: Bucket())
    private(set) var states = RecentList<StateChange>(capacity: 128)
    private(set) var formats = RecentList<FormatChange>(capacity: 64)
    let joined: MonotonicInstant
    private(set) var lastSeen: MonotonicInstant
    /// The decode skip mode now.
    private(set) var skipMode = DecodeSkipMode.full

    private var arrived = CounterReading()
    private var withheld = CounterReading()
    private var packetsLost = CounterReading()
    private var keyframes = CounterReading()
    private var keyframeRequests = CounterReading()
    private var decoded = CounterReading()
    private var dropped = CounterReading()
    private var skipped = CounterReading()
    private var pictureTime: MonotonicInstant?
    /// The time until which nothing new was shown on purpose: only later does a missing picture mean a fault.
    private var restedUntil = MonotonicInstant.zero
    /// The mean time from one picture to the next, lately.
    private var pictureInterval = Duration.milliseconds(33)

    init(source: SourceID, publicID: String, name: String, now: MonotonicInstant) {
        self.source = source
        self.publicID = publicID
        self.name = name
        joined = now
        lastSeen = now
        states.append(StateChange(state: .waiting, start: now))
    }

    func observe(_ reading: SourceReading, now: MonotonicInstant) {
        lastSeen = now
        skipMode = reading.skipMode
        count(reading, now: now)
        if let dimensions = reading.dimensions, dimensions != formats.last?.dimensions {
            formats.append(FormatChange(time: now, dimensions: dimensions))
        }
        let before = pictureTime
        // When forwarding ends, the newest decoded picture is older than the last forwarded frame.
        if let time = reading.pictureTime, before.map({ time > $0 }) ?? true {
            if let before, state == .playing { recordPictureInterval(time - before) }
            pictureTime = time
        }
        enter(state(of: reading, hasNewPicture: pictureTime != before, now: now), now: now)
    }

    private var state: State { states.last?.state ?? .waiting }

    private func count(_ reading: SourceReading, now: MonotonicInstant) {
        let growth = (
            arrived: arrived.advance(to: reading.framesArrived), withheld: withheld.advance(to: reading.framesWithheld),
            lost: packetsLost.advance(to: reading.packetsLost), keyframes: keyframes.advance(to: reading.keyframes),
            requests: keyframeRequests.advance(to: reading.keyframeRequests),
            decoded: decoded.advance(to: reading.framesDecoded), dropped: dropped.advance(to: reading.framesDropped),
            skipped: skipped.advance(to: reading.framesSkipped)
        )
        ring.update(TimelineScale.bucket(at: now)) { bucket in
            bucket.arrived.count(growth.arrived)
            bucket.withheld.count(growth.withheld)
            bucket.packetsLost.count(growth.lost)
            bucket.keyframes.count(growth.keyframes)
            bucket.keyframeRequests.count(growth.requests)
            bucket.decoded.count(growth.decoded)
            bucket.dropped.count(growth.dropped)
            bucket.skipped.count(growth.skipped)
        }
    }

    /// A long gap says nothing of how often pictures come otherwise.
    private func recordPictureInterval(_ interval: Duration) {
        let bounded = min(max(interval, .milliseconds(5)), .seconds(1))
        pictureInterval += (bounded - pictureInterval) / 8
    }

    /// The time without a new picture after which people see that it stands still: the bound by which browsers count
    /// freezes (Identifiers for WebRTC's Statistics API, `freezeCount`).
    private var freezeThreshold: Duration { max(pictureInterval * 3, pictureInterval + .milliseconds(150)) }

    private func state(of reading: SourceReading, hasNewPicture: Bool, now: MonotonicInstant) -> State {
        guard reading.isOn else { return .off }
        // Before the first picture it is waited for whether or not somebody is there to see it.
        if reading.isPicturePaused, reading.pictureTime != nil {
            restedUntil = now
            return .unseen
        }
        guard reading.dimensions != nil, let pictureTime else {
            return self.pictureTime == nil || state == .off || state == .waiting ? .waiting : .gone
        }
        if hasNewPicture || reading.mayStandStill { return .playing }
        return now - max(pictureTime, restedUntil) > freezeThreshold || state == .frozen ? .frozen : .playing
    }

    private func enter(_ next: State, now: MonotonicInstant) {
        guard next != state else { return }
        // The picture stands still since it came, which is known only now.
        let start = next == .frozen ? max(pictureTime ?? now, restedUntil, states.last?.start ?? now) : now
        states.append(StateChange(state: next, start: start))
    }
}
