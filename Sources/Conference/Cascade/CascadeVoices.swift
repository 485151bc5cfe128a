import MediaCore

/// Chooses the voices that a relay forwards to the other relays of a room: the loudest of its own participants.
///
/// A mix at another relay plays few voices at once. Another voice takes a place when a packet of it is clearly louder
/// than the quietest voice lately was, so that two speakers of the same level do not alternate.
struct CascadeVoices {
    /// Voices at once.
    static let limit = 3
    /// The shortest time that a voice keeps its place.
    private static let hold = Duration.milliseconds(500)
    /// The difference in decibels by which another voice must be louder to take a place.
    private static let margin = 6.0
    /// The fall of a voice's loudness, in decibels a second: pauses between words matter little.
    private static let decay = 25.0
    /// A voice without a packet for this time gives its place up.
    private static let silence = Duration.seconds(1)
    /// The bytes a second that a voice may take, with headers: more than Opus at its highest rate. Audio leaves
    /// unpaced, and all people of a relay share what another one takes from it.
    private static let allowance = 96_000.0

    private struct Voice {
        var id: ParticipantID
        var loudness: Double
        var updated: MonotonicInstant
        /// The time since which it is forwarded; nil while it is not.
        var since: MonotonicInstant?
        var allowance = TokenBucket(rate: CascadeVoices.allowance, capacity: CascadeVoices.allowance)

        func loudness(now: MonotonicInstant) -> Double { loudness - (now - updated).seconds * CascadeVoices.decay }
    }

    private var voices: [Voice] = []

    /// Takes the level and size of a packet. Returns true if the packet is to be forwarded.
    mutating func observe(_ level: AudioLevel, size: DataSize, of id: ParticipantID, now: MonotonicInstant) -> Bool {
        let loudness = Double(127 - min(level.decibelsBelowOverload, 127))
        let index: Int
        if let known = voices.firstIndex(where: { $0.id == id }) {
            index = known
            voices[index].loudness = max(loudness, voices[index].loudness(now: now))
            voices[index].updated = now
        } else {
            index = voices.count
            voices.append(Voice(id: id, loudness: loudness, updated: now))
        }
        if voices[index].since == nil { takePlace(index, loudness: loudness, now: now) }
        return voices[index].since != nil && voices[index].allowance.take(Double(size.bytes), now: now)
    }

    /// - Parameter loudness: The loudness of the voice's packet. A voice without a place has no claim from earlier
    ///   ones.
    private mutating func takePlace(_ index: Int, loudness: Double, now: MonotonicInstant) {
        var count = 0
        var quietest: Int?
        for other in voices.indices where voices[other].since != nil {
            if now - voices[other].updated > Self.silence {
                voices[other].since = nil
                continue
            }
            count += 1
            guard let since = voices[other].since, now - since >= Self.hold else { continue }
            let isQuieter = quietest.map { voices[other].loudness(now: now) < voices[$0].loudness(now: now) } ?? true
            if isQuieter { quietest = other }
        }
        if count < Self.limit {
            voices[index].since = now
        } else if let quietest, loudness >= voices[quietest].loudness(now: now) + Self.margin {
            voices[quietest].since = nil
            voices[index].since = now
        }
    }

    mutating func remove(_ id: ParticipantID) { voices.removeAll { $0.id == id } }
}
