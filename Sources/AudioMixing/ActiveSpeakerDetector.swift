public import MediaCore

/// Decides from the levels of a room's sources who speaks, and which participant is shown as the speaker.
///
/// A cough or a slammed door makes nobody the speaker. A participant becomes the speaker after speaking for `attack`,
/// if the speaker before has been silent for `release` or is much quieter for a long time. Each speaker stays for at
/// least `hold`; while all are silent, the last speaker stays.
public struct ActiveSpeakerDetector: Sendable {
    /// The duration of voice after which a source counts as speaking.
    private static let onset = Duration.milliseconds(200)
    /// The duration of voice after which a source may become the speaker. For `LevelMeter` a voice goes on for 180 ms
    /// after the sound: the sound has to last for 440 ms, which a cough does not.
    private static let attack = Duration.milliseconds(600)
    /// The duration without voice after which a source no longer counts as speaking. It is longer than the pauses in
    /// speech.
    private static let release = Duration.milliseconds(700)
    /// The shortest time for which a participant stays the speaker.
    private static let hold = Duration.seconds(2)
    /// The time for which a louder source must talk over the speaker to take over.
    private static let interruption = Duration.seconds(2)
    /// The difference in decibels by which a source must be louder than the speaker to take over.
    private static let interruptionMargin = 6.0

    private struct Source {
        /// The start of the current voice, or of one that ended less than `release` ago.
        var voiceBegan: MonotonicInstant?
        var lastVoice: MonotonicInstant?
        /// The mean level of recent voice, in decibels; 0 is the loudest.
        var loudness = -127.0
    }

    /// The speed at which `loudness` follows the level, as a share of the difference per second.
    private static let loudnessRate = 3.0
    /// Levels come each 20 ms. A longer gap counts as this much time.
    private static let longestStep = Duration.milliseconds(100)

    private var sources: [ParticipantID: Source] = [:]
    private var becameActive: MonotonicInstant?

    /// The participant to show as the speaker: the one who speaks, or who spoke last. It is nil until someone has
    /// spoken, and after that participant left.
    public private(set) var activeSpeaker: ParticipantID?
    /// All present participants who have been the speaker, the newest first.
    public private(set) var recentSpeakers: [ParticipantID] = []

    public init() {}

    /// Returns true if a source speaks at present.
    public func isSpeaking(_ id: ParticipantID) -> Bool {
        guard let source = sources[id] else { return false }
        return spoken(source) >= Self.onset
    }

    /// Takes the level of a source's next frame. Call `choose(now:)` after the levels of all sources.
    public mutating func observe(_ level: AudioLevel, of id: ParticipantID, now: MonotonicInstant) {
        var source = sources[id] ?? Source()
        if level.isVoice {
            let decibels = -Double(level.decibelsBelowOverload)
            if let last = source.lastVoice, source.voiceBegan != nil, now - last < Self.release {
                let step = min(max(now - last, .zero), Self.longestStep)
                source.loudness += (decibels - source.loudness) * min(1, Self.loudnessRate * step.seconds)
            } else {
                source.voiceBegan = now
                source.loudness = decibels
            }
            source.lastVoice = now
        } else if let last = source.lastVoice, now - last >= Self.release {
            source.voiceBegan = nil
        }
        sources[id] = source
    }

    /// Chooses the speaker. Call it when all levels of a tick are in.
    public mutating func choose(now: MonotonicInstant) {
        if let becameActive, now - becameActive < Self.hold { return }
        let active = activeSpeaker.flatMap { sources[$0] }
        let isContested = active.map { $0.voiceBegan != nil } ?? false
        var chosen: (id: ParticipantID, loudness: Double)?
        for (id, source) in sources where id != activeSpeaker {
            guard spoken(source) >= (isContested ? Self.interruption : Self.attack) else { continue }
            if isContested, let active, source.loudness < active.loudness + Self.interruptionMargin { continue }
            // Among equals the lowest identifier wins, so that all runs choose alike.
            if let chosen, (chosen.loudness, id) > (source.loudness, chosen.id) { continue }
            chosen = (id, source.loudness)
        }
        guard let chosen else { return }
        activeSpeaker = chosen.id
        becameActive = now
        recentSpeakers.removeAll { $0 == chosen.id }
        recentSpeakers.insert(chosen.id, at: 0)
    }

    /// Forgets the voice of a source that sends no audio any more. Its participant may stay the one to show.
    public mutating func endVoice(of id: ParticipantID) { sources[id] = nil }

    /// Forgets a source that has left. If it was the speaker, nobody is until someone speaks.
    public mutating func remove(_ id: ParticipantID) {
        sources[id] = nil
        recentSpeakers.removeAll { $0 == id }
        guard activeSpeaker == id else { return }
        activeSpeaker = nil
        becameActive = nil
    }

    /// The duration of the source's speech so far, with short pauses.
    private func spoken(_ source: Source) -> Duration {
        guard let began = source.voiceBegan, let last = source.lastVoice else { return .zero }
        return last - began
    }
}
