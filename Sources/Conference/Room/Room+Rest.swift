import MediaCore

/// While nothing changes, a room's ticks rest: they come only as often as unchanged pictures are sent.
extension Room {
    /// Undecoded audio that came so lately is looked at by video ticks.
    private static let audioIsHeardFor = Duration.seconds(3)

    /// True if ticks rest although they have work.
    var hasNews: Bool { videoTicks.isResting && (composition.isOutdated || !encoders.isStill) }

    /// Has ticks rest where the last one found nothing changed. What changes wakes them.
    func restIfStill(now: MonotonicInstant) {
        guard composition.isStill, encoders.isStill, forwarding.isStill,
            !audio.isPaused || !audio.hasHeard(within: Self.audioIsHeardFor, now: now)
        else { return }
        videoTicks.rest(for: EncodeGroup.unchangedInterval)
    }
}
