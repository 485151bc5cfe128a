import MediaCore

/// While nothing changes, a room's ticks are paused: they come only as often as unchanged pictures are sent.
extension Room {
    /// Undecoded audio that came so lately is looked at by video ticks.
    private static let audioIsHeardFor = Duration.seconds(3)

    /// True if ticks are paused although they have work.
    var needsWaking: Bool {
        videoTicks.isPaused && (composition.isOutdated || !encoders.isStill || !forwarding.isStill)
    }

    /// Pauses ticks if the last one found nothing changed. A change wakes them.
    func pauseIfStill(now: MonotonicInstant) {
        guard composition.isStill, encoders.isStill, forwarding.isStill,
            !audio.isPaused || !audio.hasHeard(within: Self.audioIsHeardFor, now: now)
        else { return }
        videoTicks.pause(for: encoders.unchangedInterval)
    }
}
