import MediaCore

/// Chooses the sources that are mixed when too many are audible at once: those that speak loudest.
///
/// Each participant in the mix needs an encoder of its own, so an open microphone for everyone would cost one encoder
/// each. A source stays in the mix for at least half a second, then gives way only to a clearly louder one.
struct VoiceSelection {
    /// The data of one source.
    struct Voice {
        /// The loudness of speech in decibels above silence: a fan is not speech, however loud. It rises at once and
        /// falls slowly, so that pauses between words matter little.
        fileprivate(set) var loudness: Float = 0
        /// True if the source is audible.
        fileprivate(set) var isAudible = false
        /// The number of frames for which the source has been in the mix; nil while it is not.
        fileprivate(set) var framesInMix: Int?

        mutating func observe(_ level: AudioLevel, isAudible: Bool) {
            let speech = level.isVoice ? 127 - Float(min(level.decibelsBelowOverload, 127)) : 0
            loudness = max(speech, loudness - VoiceSelection.decay)
            self.isAudible = isAudible
            framesInMix = isAudible ? framesInMix.map { $0 + 1 } : nil
        }
    }

    /// The fall of the loudness, in decibels a frame: 25 a second.
    private static let decay: Float = 0.5
    /// The shortest stay in the mix, in frames: half a second.
    private static let hold = 25
    /// The difference in decibels by which another source must be louder to take a place.
    private static let margin: Float = 6

    /// The largest number of sources in the mix.
    let limit: Int

    /// Decides for the sources of a tick, after all levels are in.
    func choose(among sources: [AudioSource]) {
        var inMix = sources.count { $0.voice.framesInMix != nil }
        while inMix < limit, let next = loudest(of: sources) {
            next.voice.framesInMix = 0
            inMix += 1
        }
        // At most one place changes in a tick.
        guard let next = loudest(of: sources), let last = quietest(of: sources),
            next.voice.loudness >= last.voice.loudness + Self.margin
        else { return }
        last.voice.framesInMix = nil
        next.voice.framesInMix = 0
    }

    /// The loudest audible source that is not in the mix.
    private func loudest(of sources: [AudioSource]) -> AudioSource? {
        var loudest: AudioSource?
        for source in sources where source.voice.isAudible && source.voice.framesInMix == nil {
            if source.voice.loudness > loudest?.voice.loudness ?? -1 { loudest = source }
        }
        return loudest
    }

    /// The quietest of the sources that have been in the mix for long enough.
    private func quietest(of sources: [AudioSource]) -> AudioSource? {
        var quietest: AudioSource?
        for source in sources where source.voice.framesInMix ?? 0 >= Self.hold {
            if source.voice.loudness < quietest?.voice.loudness ?? .infinity { quietest = source }
        }
        return quietest
    }
}
