import MediaCore

/// Chooses whose audio is mixed where more are loud at once than anybody can follow: the loudest.
///
/// Whoever is in the mix needs an encode of their own, so that a room in which all microphones are open would cost as
/// many as it has people. Who is in the mix stays for half a second at least, and then gives way only to one who is
/// clearly louder.
struct VoiceSelection {
    /// Of one source.
    struct Voice {
        /// In decibels above silence; it rises at once and falls slowly, so that pauses between words count for little.
        fileprivate(set) var loudness: Float = 0
        /// Whether there is anything to be heard.
        fileprivate(set) var isAudible = false
        /// For how many frames it has been in the mix; nil while it is not.
        fileprivate(set) var framesInMix: Int?

        mutating func observe(_ level: AudioLevel, isAudible: Bool) {
            loudness = max(127 - Float(min(level.decibelsBelowOverload, 127)), loudness - VoiceSelection.decay)
            self.isAudible = isAudible
            framesInMix = isAudible ? framesInMix.map { $0 + 1 } : nil
        }
    }

    /// Decibels a frame: 25 a second.
    private static let decay: Float = 0.5
    /// Frames: half a second.
    private static let hold = 25
    /// By how many decibels another is louder that takes a place in the mix.
    private static let margin: Float = 6

    /// The most voices in the mix.
    let limit: Int

    /// Decides for the sources of a tick, once all levels are in.
    func choose(among sources: [AudioSource]) {
        var inMix = sources.count { $0.voice.framesInMix != nil }
        while inMix < limit, let next = loudest(of: sources) {
            next.voice.framesInMix = 0
            inMix += 1
        }
        // One place a tick is enough, and nobody else changes then.
        guard let next = loudest(of: sources), let last = quietest(of: sources),
            next.voice.loudness >= last.voice.loudness + Self.margin
        else { return }
        last.voice.framesInMix = nil
        next.voice.framesInMix = 0
    }

    /// The loudest of those who would be heard and are not in the mix.
    private func loudest(of sources: [AudioSource]) -> AudioSource? {
        var loudest: AudioSource?
        for source in sources where source.voice.isAudible && source.voice.framesInMix == nil {
            if source.voice.loudness > loudest?.voice.loudness ?? -1 { loudest = source }
        }
        return loudest
    }

    /// The quietest of those who have been in the mix for long enough.
    private func quietest(of sources: [AudioSource]) -> AudioSource? {
        var quietest: AudioSource?
        for source in sources where source.voice.framesInMix ?? 0 >= Self.hold {
            if source.voice.loudness < quietest?.voice.loudness ?? .infinity { quietest = source }
        }
        return quietest
    }
}
