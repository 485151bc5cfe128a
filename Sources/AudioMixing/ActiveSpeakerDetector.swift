public import MediaCore

/// Tells from the levels of a room's sources who speaks, and whom to show as the speaker.
///
/// A cough or a slammed door makes nobody the speaker: only who has spoken for `attack` may become it, and only when
/// the one before has been silent for `release`, or talks over them louder and for long. Nobody is shown as the speaker
/// for less than `hold`, and the one who spoke last stays it while all are silent.
public struct ActiveSpeakerDetector: Sendable {
    public struct Configuration: Hashable, Sendable {
        /// How long voice goes on before its source counts as speaking.
        public var onset = Duration.milliseconds(200)
        /// How long a source has spoken before it may become the speaker.
        public var attack = Duration.milliseconds(600)
        /// How long a source is without voice before it no longer counts as speaking: longer than the pauses in speech.
        public var release = Duration.milliseconds(700)
        /// How long a speaker stays the speaker at least.
        public var hold = Duration.seconds(2)
        /// How long a source talks over the speaker before it takes over.
        public var interruption = Duration.seconds(2)
        /// How much louder than the speaker a source must be to take over, in decibels.
        public var interruptionMargin = 6.0

        public init() {}
    }

    private struct Source {
        /// When the voice that is heard, or was until less than `release` ago, began.
        var voiceBegan: MonotonicInstant?
        var lastVoice: MonotonicInstant?
        /// The mean level of the voice lately, in decibels; 0 is the loudest.
        var loudness = -127.0
    }

    /// How fast `loudness` follows, in shares of the way a second.
    private static let loudnessRate = 3.0
    /// Levels come each 20 ms; what comes after a longer gap counts no more than so much.
    private static let longestStep = Duration.milliseconds(100)

    private let configuration: Configuration
    private var sources: [ParticipantID: Source] = [:]
    private var becameActive: MonotonicInstant?

    /// Whom to show as the speaker: who speaks, or spoke last. Nil until someone has spoken, and after they left.
    public private(set) var activeSpeaker: ParticipantID?
    /// All who have been the speaker and are here, the newest first.
    public private(set) var recentSpeakers: [ParticipantID] = []

    public init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
    }

    /// Whether a source speaks at present.
    public func isSpeaking(_ id: ParticipantID) -> Bool {
        guard let source = sources[id] else { return false }
        return spoken(source) >= configuration.onset
    }

    /// Takes the level of a source's next frame. `choose(now:)` is called when those of all sources are in.
    public mutating func observe(_ level: AudioLevel, of id: ParticipantID, now: MonotonicInstant) {
        var source = sources[id] ?? Source()
        if level.isVoice {
            let decibels = -Double(level.decibelsBelowOverload)
            if let last = source.lastVoice, source.voiceBegan != nil, now - last < configuration.release {
                let step = min(max(now - last, .zero), Self.longestStep)
                source.loudness += (decibels - source.loudness) * min(1, Self.loudnessRate * step.seconds)
            } else {
                source.voiceBegan = now
                source.loudness = decibels
            }
            source.lastVoice = now
        } else if let last = source.lastVoice, now - last >= configuration.release {
            source.voiceBegan = nil
        }
        sources[id] = source
    }

    /// Decides whom to show, once the levels of a tick are in.
    public mutating func choose(now: MonotonicInstant) {
        if let becameActive, now - becameActive < configuration.hold { return }
        let active = activeSpeaker.flatMap { sources[$0] }
        let isContested = active.map { $0.voiceBegan != nil } ?? false
        var chosen: (id: ParticipantID, loudness: Double)?
        for (id, source) in sources where id != activeSpeaker {
            guard spoken(source) >= (isContested ? configuration.interruption : configuration.attack) else { continue }
            if isContested, let active, source.loudness < active.loudness + configuration.interruptionMargin {
                continue
            }
            // Of equals the one who came first, so that all runs choose alike.
            if let chosen, (chosen.loudness, id) > (source.loudness, chosen.id) { continue }
            chosen = (id, source.loudness)
        }
        guard let chosen else { return }
        activeSpeaker = chosen.id
        becameActive = now
        recentSpeakers.removeAll { $0 == chosen.id }
        recentSpeakers.insert(chosen.id, at: 0)
    }

    /// Forgets a source that has left. Nobody is the speaker then, if it was, until someone speaks.
    public mutating func remove(_ id: ParticipantID) {
        sources[id] = nil
        recentSpeakers.removeAll { $0 == id }
        guard activeSpeaker == id else { return }
        activeSpeaker = nil
        becameActive = nil
    }

    /// For how long a source has spoken, short pauses included.
    private func spoken(_ source: Source) -> Duration {
        guard let began = source.voiceBegan, let last = source.lastVoice else { return .zero }
        return last - began
    }
}
