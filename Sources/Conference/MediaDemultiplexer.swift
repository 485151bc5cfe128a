import MediaCore
import PeerConnection
import SDP
import SecureTransport

/// Finds the owner of a packet: by source address and SSRC if both have authenticated before, by SSRC if it was
/// announced or heard, and otherwise by trying the keys of the members, a limited number at a time.
struct MediaDemultiplexer {
    /// The most routes, and SSRCs, remembered of a participant, which has few; the oldest go first.
    private static let memory = 16
    /// Owners of one SSRC that are tried. Anybody may announce any SSRC: the newest come first.
    private static let maximumOwners = 8
    /// Members whose keys are tried for a packet of unknown origin: the newest, and others in turn.
    private static let newestGuesses = 8
    private static let maximumGuesses = 32

    private struct Route: Hashable {
        var ssrc: UInt32
        var source: TransportAddress
    }

    private struct Memory {
        var routes: [Route] = []
        var ssrcs: [UInt32] = []
    }

    private var routes: [Route: Participant] = [:]
    /// The participant whose packets authenticated from an address first.
    private var sources: [TransportAddress: Participant] = [:]
    private var owners: [UInt32: [Participant]] = [:]
    private var memories: [ParticipantID: Memory] = [:]
    private var members: [Participant] = []
    private var turn = 0
    /// The limits of tried keys, for streams with a known owner and for streams without. A key costs about a
    /// microsecond: garbage of either kind takes a limited share of a core, and does not affect the other kind.
    private var ownerTrials = TokenBucket(rate: trialsPerSecond, capacity: trialsPerSecond)
    private var guessTrials = TokenBucket(rate: trialsPerSecond, capacity: trialsPerSecond)
    private static let trialsPerSecond = 20_000.0

    var isEmpty: Bool { members.isEmpty }

    mutating func add(_ participant: Participant) {
        members.append(participant)
        memories[participant.id] = Memory()
        sourcesAnnounced(by: participant)
    }

    /// Learns the sources that a participant has announced, by its first or a further offer.
    mutating func sourcesAnnounced(by participant: Participant) {
        for ssrc in participant.peer.session.media.flatMap(\.remoteSSRCs) { remember(ssrc, of: participant) }
    }

    mutating func remove(_ participant: Participant) {
        members.removeAll { $0 === participant }
        guard let memory = memories.removeValue(forKey: participant.id) else { return }
        for route in memory.routes { forget(route, of: participant) }
        for ssrc in memory.ssrcs { forget(ssrc, of: participant) }
    }

    /// The one whose packets came from this address with this SSRC before.
    func route(ssrc: UInt32, source: TransportAddress) -> Participant? {
        routes[Route(ssrc: ssrc, source: source)]
    }

    /// The participant whose packets came from this address first, and may still.
    func owner(of source: TransportAddress) -> Participant? { sources[source] }

    /// Participants whose packet this may be, the likeliest first, without `excluded`, whose keys did not fit.
    mutating func candidates(
        ssrc: UInt32, excluding excluded: Participant?, now: MonotonicInstant
    ) -> [Participant] {
        var candidates = (owners[ssrc] ?? []).suffix(Self.maximumOwners).reversed().filter { $0 !== excluded }
        candidates = Array(candidates.prefix(ownerTrials.take(atMost: candidates.count, now: now)))
        var guesses: [Participant] = []
        func guess(_ participant: Participant) {
            guard participant !== excluded, !candidates.contains(where: { $0 === participant }),
                !guesses.contains(where: { $0 === participant })
            else { return }
            guesses.append(participant)
        }
        for participant in members.suffix(Self.newestGuesses).reversed() { guess(participant) }
        for _ in 0..<min(members.count, Self.maximumGuesses - Self.newestGuesses) {
            turn = (turn + 1) % members.count
            guess(members[turn])
        }
        return candidates + guesses.prefix(guessTrials.take(atMost: guesses.count, now: now))
    }

    /// Learns from a packet that authenticated.
    mutating func authenticated(
        _ participant: Participant, ssrc: UInt32, source: TransportAddress, now: MonotonicInstant
    ) {
        let route = Route(ssrc: ssrc, source: source)
        guard routes[route] !== participant else { return }
        if let owner = routes[route], owner.peer.occupies(source, now: now) {
            // A forged source address must not bring the packets of the address's owner to another participant, whose
            // rate limit would drop them.
            remember(ssrc, of: participant)
            return
        }
        routes[route] = participant
        if sources[source]?.peer.occupies(source, now: now) != true { sources[source] = participant }
        memories[participant.id]?.routes.append(route)
        if let count = memories[participant.id]?.routes.count, count > Self.memory,
            let oldest = memories[participant.id]?.routes.removeFirst()
        {
            forget(oldest, of: participant)
        }
        remember(ssrc, of: participant)
    }

    private mutating func remember(_ ssrc: UInt32, of participant: Participant) {
        guard memories[participant.id]?.ssrcs.contains(ssrc) == false else { return }
        owners[ssrc, default: []].append(participant)
        memories[participant.id]?.ssrcs.append(ssrc)
        if let count = memories[participant.id]?.ssrcs.count, count > Self.memory,
            let oldest = memories[participant.id]?.ssrcs.removeFirst()
        {
            forget(oldest, of: participant)
        }
    }

    private mutating func forget(_ route: Route, of participant: Participant) {
        if routes[route] === participant { routes[route] = nil }
        let isKnown = memories[participant.id]?.routes.contains { $0.source == route.source } ?? false
        if !isKnown, sources[route.source] === participant { sources[route.source] = nil }
    }

    private mutating func forget(_ ssrc: UInt32, of participant: Participant) {
        owners[ssrc]?.removeAll { $0 === participant }
        if owners[ssrc]?.isEmpty ?? false { owners[ssrc] = nil }
    }
}
