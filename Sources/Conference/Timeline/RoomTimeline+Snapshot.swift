import Compositing
import MediaCore

/// The instructions of some receivers' picture: of the last minute, and planned ones.
struct TimelineView {
    var receivers: [RoomTimelineSnapshot.Person]
    var plan: CompositionPlan
    /// The snapshot's moment on the plan's clock.
    var now: MediaTime
}

extension RoomTimeline {
    /// - Parameter describe: Returns the owner's name of a source, if it is known.
    func snapshot(
        room: String, tickInterval: Duration, views: [TimelineView] = [], now: MonotonicInstant,
        describe: (SourceID) -> String
    ) -> RoomTimelineSnapshot {
        let window = TimelineWindow(now: now, lastTick: lastTick ?? now)
        var snapshot = RoomTimelineSnapshot(room: room)
        snapshot.bucketDuration = TimelineScale.bucketDuration.seconds
        snapshot.bucketCount = window.buckets.count
        snapshot.firstBucket = window.offset(TimelineScale.start(ofBucket: window.buckets.lowerBound))
        snapshot.tickInterval = tickInterval.seconds
        snapshot.ticks = ticks.snapshot(window)
        snapshot.sources = sources.filter { window.shows($0.lastSeen) }.map { $0.snapshot(window, ticks: ticks) }
        snapshot.audio = audio.filter { window.shows($0.lastSeen) }.map { $0.snapshot(window) }
        snapshot.mix = mix.snapshot(window)
        snapshot.encoders = encoders.filter { window.shows($0.lastSeen) }.map { $0.snapshot(window) }
        snapshot.views = views.map { $0.snapshot(describe: describe) }
        snapshot.rowsLeftOut = rowsLeftOut
        return snapshot
    }
}

/// The contents of a snapshot.
struct TimelineWindow {
    /// The longest time from the last reading of a row that continues to the newest tick.
    private static let patience = Duration.milliseconds(500)

    let now: MonotonicInstant
    /// Ticks are rare while nothing changes.
    private let lastTick: MonotonicInstant
    let buckets: ClosedRange<Int64>

    init(now: MonotonicInstant, lastTick: MonotonicInstant) {
        self.now = now
        self.lastTick = lastTick
        let newest = TimelineScale.bucket(at: now)
        buckets = (newest - Int64(TimelineScale.bucketCount) + 1)...newest
    }

    /// Seconds from the snapshot's moment, to the millisecond.
    func offset(_ instant: MonotonicInstant) -> Double { ((instant - now).seconds * 1000).rounded() / 1000 }

    func shows(_ lastSeen: MonotonicInstant) -> Bool { now - lastSeen <= TimelineScale.length }

    /// The end of a row; nil while it continues.
    func end(_ lastSeen: MonotonicInstant) -> Double? {
        lastTick - lastSeen > Self.patience ? offset(lastSeen) : nil
    }

    /// A figure of each bucket.
    func figures<Bucket, Figure>(_ ring: TimelineRing<Bucket>, missing: Figure, _ figure: (Bucket) -> Figure)
        -> [Figure]
    {
        buckets.map { ring[$0].map(figure) ?? missing }
    }

    func counts<Bucket>(_ ring: TimelineRing<Bucket>, _ count: (Bucket) -> UInt16) -> [UInt16] {
        figures(ring, missing: 0, count)
    }
}

extension TickTimeline {
    fileprivate func snapshot(_ window: TimelineWindow) -> RoomTimelineSnapshot.Ticks {
        var snapshot = RoomTimelineSnapshot.Ticks()
        snapshot.taken = window.counts(ring, \.taken)
        snapshot.skipped = window.counts(ring, \.skipped)
        snapshot.missed = window.counts(ring, \.missed)
        snapshot.composed = window.counts(ring, \.composed)
        snapshot.late = window.counts(ring, \.late)
        snapshot.rendered = window.counts(ring, \.rendered)
        snapshot.reused = window.counts(ring, \.reused)
        snapshot.passedThrough = window.counts(ring, \.passedThrough)
        snapshot.fellBack = window.counts(ring, \.fellBack)
        snapshot.slowest = window.figures(ring, missing: 0) { Double($0.slowest) / 1000 }
        return snapshot
    }
}

extension SourceTimeline {
    fileprivate func snapshot(_ window: TimelineWindow, ticks: TickTimeline) -> RoomTimelineSnapshot.Source {
        var snapshot = RoomTimelineSnapshot.Source(
            person: .init(id: publicID, name: name), content: source.content, began: window.offset(joined))
        snapshot.ended = window.end(lastSeen)
        snapshot.arrived = window.counts(ring, \.arrived)
        snapshot.withheld = window.counts(ring, \.withheld)
        snapshot.packetsLost = window.counts(ring, \.packetsLost)
        snapshot.keyframes = window.counts(ring, \.keyframes)
        snapshot.keyframeRequests = window.counts(ring, \.keyframeRequests)
        snapshot.decoded = window.counts(ring, \.decoded)
        snapshot.dropped = window.counts(ring, \.dropped)
        snapshot.skipped = window.counts(ring, \.skipped)
        snapshot.skipMode = skipMode
        snapshot.formats = formats.elements.filter { window.shows($0.time) || $0.time == formats.last?.time }.map {
            .init(time: window.offset($0.time), width: $0.dimensions.width, height: $0.dimensions.height)
        }
        snapshot.states = spans(window, ticks: ticks)
        return snapshot
    }

    private func spans(_ window: TimelineWindow, ticks: TickTimeline) -> [RoomTimelineSnapshot.StateSpan] {
        let changes = states.elements
        let over = window.end(lastSeen)
        return changes.indices.compactMap { index in
            let change = changes[index]
            let next = index + 1 < changes.count ? changes[index + 1].start : nil
            guard window.shows(next ?? window.now), next.map({ $0 > change.start }) ?? true else { return nil }
            let isBad = change.state == .frozen || change.state == .gone
            return RoomTimelineSnapshot.StateSpan(
                state: change.state, start: window.offset(change.start), end: next.map(window.offset) ?? over,
                cause: isBad ? cause(from: change.start, to: next ?? min(window.now, lastSeen), ticks: ticks) : nil)
        }
    }

    /// The reason for which there was no new picture for a while, from the buckets between the last one and the next.
    private func cause(
        from start: MonotonicInstant, to end: MonotonicInstant, ticks: TickTimeline
    ) -> RoomTimelineSnapshot.FreezeCause? {
        // The first bucket has the last picture in it, and the last may have the next one.
        let (first, last) = (TimelineScale.bucket(at: start) + 1, TimelineScale.bucket(at: end) - 1)
        guard first <= last else { return nil }
        var sum = (arrived: 0, lost: 0, withheld: 0, decoded: 0, dropped: 0, skipped: 0)
        for index in max(first, last - Int64(TimelineScale.bucketCount))...last {
            sum.skipped += Int(ticks.ring[index]?.skipped ?? 0)
            guard let bucket = ring[index] else { continue }
            sum.arrived += Int(bucket.arrived)
            sum.lost += Int(bucket.packetsLost)
            sum.withheld += Int(bucket.withheld)
            sum.decoded += Int(bucket.decoded)
            sum.dropped += Int(bucket.dropped)
        }
        if sum.withheld > 0 || sum.lost > 0 { return .packetsLost }
        if sum.dropped > 0 { return .undecodable }
        if sum.arrived > 0 || sum.skipped > 0 { return .relayBusy }
        return .nothingArrived
    }
}

extension AudioTimeline {
    fileprivate func snapshot(_ window: TimelineWindow) -> RoomTimelineSnapshot.Audio {
        var snapshot = RoomTimelineSnapshot.Audio(person: .init(id: publicID, name: name))
        snapshot.ended = window.end(lastSeen)
        snapshot.level = window.figures(ring, missing: nil) { $0.sourceTicks > 0 ? $0.level : nil }
        snapshot.gain = window.figures(ring, missing: 0) {
            $0.sourceTicks > 0 ? (Double($0.gains) / Double($0.sourceTicks) / 0.255).rounded() / 1000 : 0
        }
        snapshot.isVoice = window.figures(ring, missing: false, \.isVoice)
        snapshot.concealed = window.counts(ring, \.concealed)
        snapshot.mixLevel = window.figures(ring, missing: nil) { $0.mixTicks > 0 ? $0.mixLevel : nil }
        return snapshot
    }
}

extension MixTimeline {
    fileprivate func snapshot(_ window: TimelineWindow) -> RoomTimelineSnapshot.Mix {
        var snapshot = RoomTimelineSnapshot.Mix()
        snapshot.limiterGain = window.figures(ring, missing: 1) { (Double($0.limiterGain) / 65.535).rounded() / 1000 }
        snapshot.encodes = window.counts(ring, \.encodes)
        return snapshot
    }
}

extension EncoderTimeline {
    fileprivate func snapshot(_ window: TimelineWindow) -> RoomTimelineSnapshot.Encoder {
        var snapshot = RoomTimelineSnapshot.Encoder(
            id: id.rawValue, members: currentMembers.map { .init(id: $0.publicID, name: $0.name) },
            width: dimensions.width, height: dimensions.height, maximumFrameRate: maximumFrameRate)
        snapshot.ended = window.end(lastSeen)
        snapshot.targetBitRate = window.figures(ring, missing: nil) { $0.readings > 0 ? $0.targetBitRate : nil }
        snapshot.encoded = window.counts(ring, \.encoded)
        snapshot.leftOut = window.counts(ring, \.leftOut)
        snapshot.keyframes = window.counts(ring, \.keyframes)
        snapshot.waiting = window.counts(ring, \.waiting)
        snapshot.keyframeRequests = keyframeRequests.elements.filter { window.shows($0.time) }.map {
            .init(time: window.offset($0.time), name: $0.name)
        }
        let second = window.now.milliseconds / 1000
        snapshot.layerDrops = currentMembers.compactMap { member in
            let frames = ((second - 59)...second).reduce(0) { $0 + Int(member.layerDroppedFrames[$1] ?? 0) }
            guard frames > 0 else { return nil }
            return .init(person: .init(id: member.publicID, name: member.name), frames: frames)
        }
        return snapshot
    }
}
