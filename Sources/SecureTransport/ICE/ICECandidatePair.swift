internal import MediaCore

/// Our one socket and a candidate of the other side, as a controlling agent sees them.
struct ICECandidatePair: Sendable {
    enum State: Hashable, Sendable {
        /// A pair that is not checked yet.
        case waiting
        case inProgress
        case succeeded
        case failed
    }

    /// The most checks of consent whose answers may still come.
    private static let earlierLimit = 8

    let candidate: ICECandidate
    var state = State.waiting
    /// The check that is under way.
    private(set) var check: ICECheck?
    /// Checks of consent that later ones followed without an answer: one that comes late is good, too.
    private var earlier: [STUNTransactionID] = []

    var address: TransportAddress { candidate.address }

    init(candidate: ICECandidate) {
        self.candidate = candidate
    }

    /// Begins a check in place of the one under way.
    mutating func start(_ check: ICECheck) {
        if let former = self.check, former.nominates {
            if earlier.count >= Self.earlierLimit { earlier.removeFirst() }
            earlier.append(former.id)
        }
        self.check = check
    }

    /// Returns true if the check with this identifier nominates the pair; nil if there is no such check.
    func nominates(_ id: STUNTransactionID) -> Bool? {
        if let check, check.id == id { return check.nominates }
        return earlier.contains(id) ? true : nil
    }

    /// Records that the current check is sent once more; forgets it when it was sent as often as allowed.
    /// - Returns: True to send it.
    mutating func retransmit(now: MonotonicInstant) -> Bool {
        if check?.retransmit(now: now) == true { return true }
        if state == .inProgress { state = .failed }
        check = nil
        return false
    }

    /// Forgets the checks under way.
    mutating func endChecks() {
        check = nil
        earlier = []
    }
}
