import MediaCore
import SecureTransport

/// Tells whose a packet is: by source address and SSRC when both have authenticated before, by SSRC when it was
/// announced or known, and otherwise by trying the keys of those whose streams are not known yet.
struct MediaDemultiplexer {
    /// Participants whose keys are tried for a packet of unknown origin.
    private static let maximumCandidates = 32
    /// Keys tried a second for packets of unknown origin: a flood of them costs a bounded share of a core
    /// (about a microsecond each).
    private static let trialsPerSecond = 20_000.0

    private struct Route: Hashable {
        var ssrc: UInt32
        var source: TransportAddress
    }

    private var routes: [Route: Participant] = [:]
    private var bySSRC: [UInt32: [Participant]] = [:]
    /// Who may yet send from an SSRC that nobody announced, the newest last.
    private var unannounced: [Participant] = []
    private var trials = trialsPerSecond
    private var lastRefill = MonotonicInstant.zero

    mutating func add(_ participant: Participant) {
        let media = participant.peer.session.media
        for ssrc in media.flatMap(\.remoteSSRCs) { bySSRC[ssrc, default: []].append(participant) }
        unannounced.append(participant)
    }

    mutating func remove(_ participant: Participant) {
        unannounced.removeAll { $0 === participant }
        for ssrc in Array(bySSRC.keys) {
            bySSRC[ssrc]?.removeAll { $0 === participant }
            if bySSRC[ssrc]?.isEmpty ?? false { bySSRC[ssrc] = nil }
        }
        for (route, owner) in routes where owner === participant { routes[route] = nil }
    }

    /// The one whose packets came from this address with this SSRC before.
    func route(ssrc: UInt32, source: TransportAddress) -> Participant? {
        routes[Route(ssrc: ssrc, source: source)]
    }

    /// Those whose packet this may be, the likeliest first.
    mutating func candidates(ssrc: UInt32, now: MonotonicInstant) -> [Participant] {
        let elapsed = (now - lastRefill).seconds
        lastRefill = now
        trials = min(Self.trialsPerSecond, trials + elapsed * Self.trialsPerSecond)
        let known = bySSRC[ssrc] ?? []
        // A stream with a known SSRC whose address changed is no trial: one key, and it usually fits.
        var candidates = known
        for participant in unannounced.reversed() where candidates.count < Self.maximumCandidates {
            if !known.contains(where: { $0 === participant }) { candidates.append(participant) }
        }
        guard trials >= Double(candidates.count) else { return [] }
        trials -= Double(candidates.count)
        return candidates
    }

    /// Learns from a packet that authenticated.
    mutating func authenticated(_ participant: Participant, ssrc: UInt32, source: TransportAddress) {
        let route = Route(ssrc: ssrc, source: source)
        guard routes[route] !== participant else { return }
        for (old, owner) in routes where old.ssrc == ssrc && owner === participant { routes[old] = nil }
        routes[route] = participant
        if !(bySSRC[ssrc]?.contains { $0 === participant } ?? false) {
            bySSRC[ssrc, default: []].append(participant)
        }
        forgetIfComplete(participant)
    }

    /// Once every stream and its RTCP have been heard, nothing of the participant is left to guess.
    private mutating func forgetIfComplete(_ participant: Participant) {
        let receiving = participant.peer.session.media.count { $0.receives }
        let heard = routes.count { $0.value === participant }
        if receiving > 0, heard >= participant.peer.session.media.count { unannounced.removeAll { $0 === participant } }
    }
}
