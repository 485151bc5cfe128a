public import MediaCore
public import NIOCore

/// A client's side of ICE towards a lite agent, such as a relay. It is controlling and has one socket: it checks each
/// of the other side's candidates, nominates the best one that answers, and keeps the consent to send fresh (RFC 8445,
/// section 7.2; RFC 7675).
///
/// Checks are paced and repeated as in RFC 8445, section 14. Nomination is regular (section 8.1.1): the pair of the
/// highest priority that answered, at most 200 ms after the first one did. Checks of consent nominate again, so that
/// the other side takes our new address after a change by a NAT or of the network; one comes at once when media stop.
/// An unanswered one is followed by another after a second, and when the other side is silent for long all pairs are
/// checked: the first to answer is used.
public struct ICEControllingAgent: Sendable {
    /// The fate of a datagram.
    public enum Outcome: Hashable, Sendable {
        /// The answer to one of our checks.
        /// - isNew: Its address was not validated before.
        case succeeded(isNew: Bool)
        /// An authentic error answer: the pair failed. 487 means that the other side wants to be controlling too
        /// (RFC 8445, section 7.2.5.1): it is no lite agent.
        case refused(code: UInt16)
        /// A wrong MESSAGE-INTEGRITY, or none.
        case unauthenticated
        /// No answer to a check that is under way: it is too late, it came from elsewhere than the check went to
        /// (section 7.2.5.2.1), or it is a request, which a lite agent does not send.
        case ignored
        /// The datagram is not a STUN message.
        case malformed(STUNError)
    }

    /// The largest number of checked candidates; those of the lowest priority are left out.
    public static let pairLimit = 32

    /// The state of the path.
    public private(set) var state = ICEState.new
    /// The address to send to: the nominated pair; before a nomination, the pair of the highest priority that answered;
    /// in a restart, the former one until then. Nil without consent to send.
    public private(set) var selectedAddress: TransportAddress?
    /// True if the selected pair is nominated.
    public private(set) var isNominated = false
    /// The source address of our last successful check, as the other side saw it.
    public private(set) var reflexiveAddress: TransportAddress?
    /// The time of the next call to `advance(now:)`, if nothing comes before.
    public private(set) var nextDeadline: MonotonicInstant

    private var key: ICECheckKey
    private var pairs: [ICECandidatePair] = []
    private var outgoing: [ICETransmit] = []
    private let tieBreaker: UInt64
    private var random: any RandomNumberGenerator & Sendable

    /// The time at which the next pair may be checked for the first time.
    private var nextFirstCheck: MonotonicInstant
    /// The time at which the first pair answered since the start or the restart.
    private var firstSuccess: MonotonicInstant?
    /// The time of the selected pair's next check, to nominate it or for consent; never, before a pair is chosen.
    private var nextConsentCheck = MonotonicInstant.distantFuture
    private var lastConsentCheck: MonotonicInstant
    /// The time since which checks of the selected pair have no answer.
    private var unansweredSince: MonotonicInstant?
    /// The time of the last answer; before the first, the agent's start.
    private var lastAnswer: MonotonicInstant
    /// The time of the last packet from the other side on the selected pair.
    private var lastSign: MonotonicInstant
    /// The time of the last media packet from the other side on the selected pair.
    private var lastMedia = MonotonicInstant.zero
    /// The time at which a pause of the media is long enough for a check; never, if none come, or few.
    private var endOfMedia = MonotonicInstant.distantFuture

    /// Starts to check the candidates.
    /// - Parameters:
    ///   - local: The credentials in our description.
    ///   - remote: The credentials in the other side's description.
    ///   - candidates: The other side's candidates; more may be added later.
    ///   - random: The generator of transaction identifiers, which must be unpredictable: outside tests
    ///     `SystemRandomNumberGenerator`.
    public init(
        local: ICECredentials, remote: ICECredentials, candidates: [ICECandidate] = [],
        random: any RandomNumberGenerator & Sendable, now: MonotonicInstant
    ) {
        self.random = random
        tieBreaker = self.random.next()
        key = ICECheckKey(receiver: remote, sender: local)
        nextFirstCheck = now
        lastConsentCheck = now
        lastAnswer = now
        lastSign = now
        nextDeadline = now
        add(candidates)
    }

    /// Adds later candidates of the other side. Those of other components than the first, and known ones, are ignored.
    public mutating func add(_ candidates: [ICECandidate]) {
        for candidate in candidates where candidate.component == 1 {
            guard !pairs.contains(where: { $0.address == candidate.address }) else { continue }
            pairs.append(ICECandidatePair(candidate: candidate))
        }
        // Ours is one candidate: the pairs' order is that of theirs (RFC 8445, section 6.1.2.3).
        pairs.sort { $0.candidate.priority > $1.candidate.priority }
        if pairs.count > Self.pairLimit { pairs.removeLast(pairs.count - Self.pairLimit) }
        // An agent that has failed checks nothing before a restart, so a deadline would stay due.
        guard state != .failed, pairs.contains(where: { $0.state == .waiting }) else { return }
        nextDeadline = min(nextDeadline, nextFirstCheck)
    }

    /// Returns true if the other side answered from this address, and consent holds.
    public func isValidated(_ address: TransportAddress) -> Bool {
        let address = address.unmapped
        return selectedAddress == address
            || state != .failed && pairs.contains { $0.address == address && $0.state == .succeeded }
    }

    /// The next datagram to be sent.
    public mutating func pollTransmit() -> ICETransmit? {
        outgoing.isEmpty ? nil : outgoing.removeFirst()
    }

    /// Takes a STUN datagram that came from `source`.
    public mutating func receive(
        _ datagram: ByteBuffer, from source: TransportAddress, now: MonotonicInstant
    ) -> Outcome {
        // Many agents may have one address at the other side, and only one of them made the check.
        if let id = STUNMessage.transactionID(of: datagram), !awaits(id, from: source) { return .ignored }
        let response: STUNMessage
        do {
            response = try STUNMessage(parsing: datagram)
        } catch {
            return .malformed(error)
        }
        guard response.messageClass == .successResponse || response.messageClass == .errorResponse,
            response.method == STUNMessage.bindingMethod, state != .failed,
            let index = pairs.firstIndex(where: { $0.address == source.unmapped }),
            let nominates = pairs[index].nominates(response.transactionID)
        else { return .ignored }
        // Anybody can make an unsigned error, so the check continues.
        guard response.isAuthentic(key: key.password) else { return .unauthenticated }
        pairs[index].endChecks()
        if response.messageClass == .errorResponse {
            pairs[index].state = .failed
            if selectedAddress == nil, pairs.allSatisfy({ $0.state == .failed }) { fail() }
            advance(now: now)
            return .refused(code: response.errorCode ?? 0)
        }
        let isNew = succeed(at: index, nominated: nominates, response, now: now)
        advance(now: now)
        return .succeeded(isNew: isNew)
    }

    private func awaits(_ id: STUNTransactionID, from source: TransportAddress) -> Bool {
        let address = source.unmapped
        return pairs.contains { $0.address == address && $0.nominates(id) != nil }
    }

    /// Records authentic media, or another datagram that only the other side can have made, from an address: the other
    /// side is not silent then. It renews no consent (RFC 7675, section 5.1).
    public mutating func recordLiveness(from source: TransportAddress, now: MonotonicInstant) {
        guard source.unmapped == selectedAddress, state != .failed else { return }
        lastSign = max(lastSign, now)
        endOfMedia = now - lastMedia < ICETiming.mediaPause ? now + ICETiming.mediaPause : .distantFuture
        lastMedia = now
        nextDeadline = min(nextDeadline, endOfMedia)
        if state == .disconnected { advance(now: now) }
    }

    /// Checks the selected pair at once: to be called when our own network changed.
    public mutating func checkNow(now: MonotonicInstant) {
        guard isNominated, state != .failed else { return }
        nextConsentCheck = now
        advance(now: now)
    }

    /// Sets new credentials and candidates (RFC 8445, section 9). The selected pair stays in use until one of the
    /// candidates answers.
    public mutating func restart(
        local: ICECredentials, remote: ICECredentials, candidates: [ICECandidate], now: MonotonicInstant
    ) {
        key = ICECheckKey(receiver: remote, sender: local)
        pairs = []
        outgoing = []
        isNominated = false
        firstSuccess = nil
        nextConsentCheck = .distantFuture
        nextFirstCheck = now
        unansweredSince = now
        lastAnswer = now
        if state == .failed { state = .disconnected }
        add(candidates)
        advance(now: now)
    }

    /// Advances the time: sends due checks, and ends consent if no answer came.
    public mutating func advance(now: MonotonicInstant) {
        guard state != .failed else { return }
        guard now < lastAnswer + ICETiming.consentLifetime else {
            fail()
            return
        }
        retransmit(now: now)
        startFirstCheck(now: now)
        nominate(now: now)
        noticePause(now: now)
        checkConsent(now: now)
        updateState(now: now)
        updateDeadline(now: now)
    }
}

// MARK: - Checks

extension ICEControllingAgent {
    /// A pair answered.
    /// - Returns: True if it is for the first time.
    private mutating func succeed(
        at index: Int, nominated: Bool, _ response: STUNMessage, now: MonotonicInstant
    ) -> Bool {
        let isNew = pairs[index].state != .succeeded
        pairs[index].state = .succeeded
        reflexiveAddress = response.mappedAddress ?? reflexiveAddress
        lastAnswer = now
        firstSuccess = firstSuccess ?? now
        let address = pairs[index].address
        if nominated, !isNominated || state == .disconnected {
            selectedAddress = address
            isNominated = true
        } else if nextConsentCheck == .distantFuture {
            selectedAddress = pairs.first { $0.state == .succeeded }?.address
        }
        guard selectedAddress == address else { return isNew }
        lastSign = now
        unansweredSince = nil
        if isNominated { nextConsentCheck = max(now, lastConsentCheck + randomized(ICETiming.consentInterval)) }
        return isNew
    }

    private mutating func retransmit(now: MonotonicInstant) {
        for index in pairs.indices {
            guard let check = pairs[index].check, now >= check.deadline, pairs[index].retransmit(now: now)
            else { continue }
            outgoing.append(ICETransmit(destination: pairs[index].address, datagram: check.datagram))
        }
    }

    private mutating func startFirstCheck(now: MonotonicInstant) {
        guard now >= nextFirstCheck, let index = pairs.firstIndex(where: { $0.state == .waiting }) else { return }
        nextFirstCheck = now + ICETiming.pacing
        pairs[index].state = .inProgress
        // RFC 8445, section 14.3: the more checks are under way, the later each is sent again.
        let active = pairs.count { $0.state == .waiting || $0.state == .inProgress }
        let timeout = max(ICETiming.minimumRetransmissionTimeout, ICETiming.pacing * active)
        start(at: index, nominates: false, timeout: timeout, now: now)
    }

    /// Begins to nominate the best pair that answered, once no better one may still answer, or patience is over.
    private mutating func nominate(now: MonotonicInstant) {
        guard nextConsentCheck == .distantFuture, let firstSuccess,
            let index = pairs.firstIndex(where: { $0.state == .succeeded }),
            now >= firstSuccess + ICETiming.nominationPatience || !isBetterPairOpen(than: index)
        else { return }
        nextConsentCheck = now
    }

    private func isBetterPairOpen(than index: Int) -> Bool {
        pairs[..<index].contains { $0.state == .waiting || $0.state == .inProgress }
    }

    /// Brings the next check forward when media have stopped: once, until they come again.
    private mutating func noticePause(now: MonotonicInstant) {
        guard now >= endOfMedia else { return }
        endOfMedia = .distantFuture
        if isNominated { nextConsentCheck = min(nextConsentCheck, now) }
    }

    /// Each of these checks is a transaction of its own, sent once, for one sent again from a new address would look
    /// like a replay. Until one is answered they follow each other faster than RFC 7675, section 5.1 has it, in the
    /// place of retransmissions.
    private mutating func checkConsent(now: MonotonicInstant) {
        guard now >= nextConsentCheck else { return }
        let interval = isNominated ? ICETiming.recoveryInterval : ICETiming.minimumRetransmissionTimeout
        nextConsentCheck = now + randomized(interval)
        lastConsentCheck = now
        unansweredSince = unansweredSince ?? now
        for index in pairs.indices where state == .disconnected || pairs[index].address == selectedAddress {
            start(at: index, nominates: true, timeout: interval, transmissionLimit: 1, now: now)
        }
    }

    /// Returns between 0.8 and 1.2 of an interval, so that many clients' checks do not come at the same time.
    private mutating func randomized(_ interval: Duration) -> Duration {
        interval * Double.random(in: 0.8...1.2, using: &random)
    }

    private mutating func start(
        at index: Int, nominates: Bool, timeout: Duration, transmissionLimit: Int = ICETiming.transmissionLimit,
        now: MonotonicInstant
    ) {
        let id = STUNTransactionID(using: &random)
        var builder = STUNMessageBuilder(.request, transactionID: id)
        builder.append(username: key.username)
        // The priority that the other side would give a peer-reflexive candidate (RFC 8445, section 7.1.1).
        builder.append(priority: ICECandidate.priority(.peerReflexive, localPreference: 65_535))
        builder.append(.controlling(tieBreaker: tieBreaker))
        if nominates { builder.appendUseCandidate() }
        builder.appendIntegrity(key: key.password)
        let datagram = builder.finish()
        pairs[index].start(
            ICECheck(
                id: id, datagram: datagram, nominates: nominates, timeout: timeout,
                transmissionLimit: transmissionLimit, now: now))
        outgoing.append(ICETransmit(destination: pairs[index].address, datagram: datagram))
    }
}

// MARK: - State

extension ICEControllingAgent {
    private mutating func fail() {
        state = .failed
        selectedAddress = nil
        isNominated = false
        for index in pairs.indices { pairs[index].endChecks() }
        outgoing = []
        nextDeadline = .distantFuture
    }

    private mutating func updateState(now: MonotonicInstant) {
        guard selectedAddress != nil else { return }
        state = now < silence ? .connected : .disconnected
    }

    /// The time at which the selected pair counts as silent: five seconds without a packet or an answer to a check.
    private var silence: MonotonicInstant {
        guard let unansweredSince else { return .distantFuture }
        return max(lastSign + ICETiming.silenceLimit, unansweredSince + ICETiming.recoveryInterval)
    }

    private mutating func updateDeadline(now: MonotonicInstant) {
        var deadline = min(lastAnswer + ICETiming.consentLifetime, nextConsentCheck, endOfMedia)
        for pair in pairs {
            if let check = pair.check { deadline = min(deadline, check.deadline) }
            if pair.state == .waiting { deadline = min(deadline, nextFirstCheck) }
        }
        if nextConsentCheck == .distantFuture, let firstSuccess {
            let patience = firstSuccess + ICETiming.nominationPatience
            if now < patience { deadline = min(deadline, patience) }
        }
        if state == .connected { deadline = min(deadline, silence) }
        nextDeadline = deadline
    }
}

/// A datagram to send.
public struct ICETransmit: Hashable, Sendable {
    public var destination: TransportAddress
    public var datagram: ByteBuffer
}
