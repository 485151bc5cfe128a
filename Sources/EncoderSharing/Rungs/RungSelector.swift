package import MediaCore
package import VideoCoding

/// Chooses the rung of an encoder: the highest at which its pictures are good, judged by its frames.
///
/// It compares the mean QP with a ceiling: beyond it pictures look poor, and fewer but sharper samples look better. The
/// rate alone does not show this: with a still talking head 720p is good at a rate at which sport needs a quarter of
/// it. The frames' QPs and sizes give the complexity of the content (`ContentComplexity`), and this predicts the result
/// of other rungs at the present rate. A size whose coarsest keyframe takes the link too long
/// (`FrameBound.coarsestKeyframe`) is excluded.
///
/// Each step takes a keyframe. It goes down when the ceiling was exceeded for a while, sooner if by far, and up when
/// the next rungs would have been good for seconds. After a step up that was undone it waits longer, each time twice as
/// long.
package struct RungSelector: Sendable {
    /// Beyond this, pictures are poor (libwebrtc's quality scaler takes pictures of H.264 to be so beyond 37).
    package static let ceiling = 38.0
    /// The target of the QP after a step down, and, for the rung above, before a step up.
    private static let aim = (
        down: Aim(qp: 36, keyframe: FrameBound.coarsestKeyframe.kept),
        up: Aim(qp: 34, keyframe: FrameBound.coarsestKeyframe.regained)
    )
    /// The target of the QP before a step up of the frame rate alone. Moving pictures need little room for it: it costs
    /// no keyframe, and is as quickly taken back.
    private static let frameRateAim = (motion: 37.5, detail: 36.0)
    /// The excess over the ceiling at which pictures are unusable.
    private static let unusable = 5.0
    /// The time for which the ceiling must have been exceeded, and the time if by far.
    private static let patience = (usual: Duration.milliseconds(1500), short: Duration.milliseconds(300))
    /// The time for which there must have been headroom.
    private static let headRoom = (first: Duration.seconds(3), longest: Duration.seconds(48))
    /// A step up that is taken back within this time has failed.
    private static let trial = Duration.seconds(10)
    /// Frames within this time after a keyframe may be coarse because of it. Behind one that was poor itself, they
    /// spend the rate on refinement: with 60 people in a picture of 960x540 and 1.4 Mbit/s, the QP fell from 51 to 38
    /// within 0.7 s, and to 37, which is nearly the usual one, within 1.1 s.
    private static let afterKeyframe = (usual: Duration.milliseconds(600), poor: Duration.milliseconds(1500))
    /// The time over which frames are averaged, and the number of frames that it takes.
    private static let averaging = (time: Duration.milliseconds(1500), frames: 5)

    /// The encoder's rate, that of its slowest receiver, which may be less, and the room's ticks a second, which
    /// overload control lowers.
    package struct Rates {
        package var encoder: BitRate
        package var slowest: BitRate
        package var tickRate: Int?

        package init(encoder: BitRate, slowest: BitRate, tickRate: Int?) {
            self.encoder = encoder
            self.slowest = slowest
            self.tickRate = tickRate
        }

        fileprivate func qp(of content: ContentComplexity, at rung: EncodeRung) -> Double {
            content.qp(at: rung.encoded(ofTicks: tickRate), rate: encoder)
        }
    }

    /// The quality that a rung must reach.
    private struct Aim {
        var qp: Double
        var keyframe: FrameBound.Span
    }

    package private(set) var rung: EncodeRung
    /// The content's complexity; nil before it was measured.
    package private(set) var cost: ContentComplexity?
    /// The quantisation parameter over time, at this rung.
    package private(set) var qp: Double?

    /// The cost of frames at this rung, over time.
    private var level: Double?
    private var frames = 0
    private var lastFrame: MonotonicInstant?
    /// Frames from this time on tell how complex the content is.
    private var settledAfter: MonotonicInstant?
    private var poorSince: MonotonicInstant?
    private var unusableSince: MonotonicInstant?
    private var goodSince: (rung: EncodeRung, time: MonotonicInstant)?
    private var lastStepUp: MonotonicInstant?
    private var headRoomNeeded = Self.headRoom.first

    /// - Parameters:
    ///   - cost: The complexity of the content, if it is known from others with the same content.
    ///   - tickRate: The room's ticks a second; nil: as many as each rung takes.
    package init(ladder: Ladder, rate: BitRate, cost: ContentComplexity? = nil, tickRate: Int? = nil) {
        self.cost = cost
        let rates = Rates(encoder: rate, slowest: rate, tickRate: tickRate)
        rung = Self.best(of: ladder.rungs, rates: rates, cost: cost, aim: Self.aim.down) ?? ladder.bottom
    }

    /// The first of some rungs at which pictures are at least so good, as far as is known.
    private static func best(
        of rungs: some Sequence<EncodeRung>, rates: Rates, cost: ContentComplexity?, aim: Aim
    ) -> EncodeRung? {
        rungs.first { rung in
            FrameBound.fitsKeyframe(of: rung, rate: rates.slowest, within: aim.keyframe)
                && cost.map { rates.qp(of: $0, at: rung) <= aim.qp } ?? true
        }
    }

    /// Takes a frame.
    ///
    /// - Parameter tickRate: The room's ticks a second at its picture.
    package mutating func observe(_ frame: EncodeStatistics, tickRate: Int?, now: MonotonicInstant) {
        let interval = lastFrame.map { now - $0 } ?? .zero
        lastFrame = now
        if frame.type == .idr {
            let isPoor = Double(frame.averageQP ?? 0) > Self.ceiling
            settledAfter = now + (isPoor ? Self.afterKeyframe.poor : Self.afterKeyframe.usual)
        }
        guard let parameter = frame.averageQP, frame.type == .p, settledAfter.map({ now >= $0 }) ?? true
        else { return }
        frames += 1
        let weight = min(1, max(interval / Self.averaging.time, 1 / Double(frames)))
        qp = (qp ?? Double(parameter)) * (1 - weight) + Double(parameter) * weight
        // The complexity is the same at any rate, because QP and size follow the rate; so only this is averaged.
        let shown = rung.encoded(ofTicks: tickRate)
        let bits = frame.size.bits * Double(shown.frameRate)
        let sample = ContentComplexity(qp: Double(parameter), rate: BitRate(bitsPerSecond: bits), rung: shown)
        level = (level ?? sample.level) * (1 - weight) + sample.level * weight
        guard frames >= Self.averaging.frames, let level else { return }
        cost = ContentComplexity(level: level)
    }

    /// The rung that is wanted now, another than the present one; nil if that is to stay.
    package mutating func wanted(in ladder: Ladder, rates: Rates, now: MonotonicInstant) -> EncodeRung? {
        guard let position = ladder.rungs.firstIndex(of: rung) else {
            // Something else is shown, and something else gives way.
            return Self.best(of: ladder.rungs, rates: rates, cost: cost, aim: Self.aim.down) ?? ladder.bottom
        }
        guard let cost else { return nil }
        let expected = rates.qp(of: cost, at: rung)
        let isTooLarge = !FrameBound.fitsKeyframe(of: rung, rate: rates.slowest, within: Self.aim.down.keyframe)
        poorSince = expected > Self.ceiling || isTooLarge ? poorSince ?? now : nil
        unusableSince = expected > Self.ceiling + Self.unusable ? unusableSince ?? now : nil
        let isPoor =
            poorSince.map { now - $0 >= Self.patience.usual } ?? false
            || unusableSince.map { now - $0 >= Self.patience.short } ?? false
        if isPoor, position + 1 < ladder.rungs.count {
            let lower = ladder.rungs[(position + 1)...]
            return Self.best(of: lower, rates: rates, cost: cost, aim: Self.aim.down) ?? ladder.bottom
        }
        let higher = ladder.rungs[..<position].first { isGood($0, of: ladder, rates: rates, cost: cost) }
        guard let higher else {
            goodSince = nil
            return nil
        }
        // Of several rungs, the highest that was good all the time.
        if let goodSince, let known = ladder.rungs.firstIndex(of: goodSince.rung),
            let new = ladder.rungs.firstIndex(of: higher)
        {
            if new > known { self.goodSince?.rung = higher }
        } else {
            goodSince = (higher, now)
        }
        guard let goodSince, now - goodSince.time >= headRoomNeeded else { return nil }
        return goodSince.rung
    }

    /// Returns true if a higher rung is good enough for a step up.
    private func isGood(_ rung: EncodeRung, of ladder: Ladder, rates: Rates, cost: ContentComplexity) -> Bool {
        guard rung.dimensions != self.rung.dimensions else {
            let aim = ladder.preference == .motion ? Self.frameRateAim.motion : Self.frameRateAim.detail
            return rates.qp(of: cost, at: rung) <= aim
        }
        return Self.best(of: CollectionOfOne(rung), rates: rates, cost: cost, aim: Self.aim.up) != nil
    }

    /// The encoder goes to a rung, with a keyframe.
    package mutating func step(to rung: EncodeRung, now: MonotonicInstant) {
        let isUp = rung.dimensions.area * rung.frameRate > self.rung.dimensions.area * self.rung.frameRate
        if isUp {
            lastStepUp = now
        } else if let lastStepUp {
            let hasFailed = now - lastStepUp < Self.trial
            headRoomNeeded =
                hasFailed ? min(headRoomNeeded * 2, Self.headRoom.longest) : Self.headRoom.first
            self.lastStepUp = nil
        }
        self.rung = rung
        (qp, level, frames) = (nil, nil, 0)
        (poorSince, unusableSince, goodSince) = (nil, nil, nil)
        // The next pictures have another size.
        settledAfter = now + Self.afterKeyframe.usual
    }
}
