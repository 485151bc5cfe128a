import MediaCore

/// Holds a lease: asks for one, renews it in time, and tells until when it surely holds.
struct LeaseKeeper {
    private enum State {
        case none
        case asked(sentAt: MonotonicInstant)
        case held(LeaseID, renewal: MonotonicInstant?)
    }

    let timeToLive: Duration
    let renewalInterval: Duration
    private var state = State.none
    private var nextStep = MonotonicInstant.zero
    /// Until when the keys of the lease are surely there: counted from when its last renewal was sent, so that the
    /// time of the answer's way does not count.
    private(set) var validUntil = MonotonicInstant.zero

    private static let retryInterval = Duration.milliseconds(500)

    init(timeToLive: Duration, renewalInterval: Duration) {
        self.timeToLive = timeToLive
        self.renewalInterval = renewalInterval
    }

    /// The lease; nil: there is none, or it is not known whether it still holds.
    func lease(now: MonotonicInstant) -> LeaseID? {
        guard case .held(let id, _) = state, now < validUntil else { return nil }
        return id
    }

    /// The lease, whether or not it still holds.
    var heldLease: LeaseID? {
        if case .held(let id, _) = state { return id }
        return nil
    }

    /// The request to send now, if any.
    mutating func step(now: MonotonicInstant) -> DirectoryRequest? {
        guard now >= nextStep else { return nil }
        switch state {
        case .none:
            state = .asked(sentAt: now)
            return .grantLease(timeToLive: timeToLive)
        case .held(let id, nil):
            state = .held(id, renewal: now)
            return .renewLease(id)
        case .asked, .held: return nil
        }
    }

    /// Renews the lease at once.
    mutating func renewSoon(now: MonotonicInstant) { nextStep = min(nextStep, now) }

    /// When `step` must be called.
    var nextWakeUp: MonotonicInstant {
        switch state {
        case .none, .held(_, nil): nextStep
        case .asked, .held: .distantFuture
        }
    }

    enum Outcome {
        case granted, renewed, lost, failed
    }

    mutating func receive(_ response: DirectoryResponse, now: MonotonicInstant) -> Outcome {
        switch (state, response) {
        case (.asked(let sentAt), .lease(let id, let timeToLive)):
            hold(id, sentAt: sentAt, timeToLive: timeToLive)
            return .granted
        case (.held(let id, let sentAt?), .lease(_, let timeToLive)):
            hold(id, sentAt: sentAt, timeToLive: timeToLive)
            return .renewed
        case (.held, .leaseEnded):
            state = .none
            nextStep = now
            return .lost
        case (.held(let id, _), _):
            state = .held(id, renewal: nil)
            nextStep = now + Self.retryInterval
            return .failed
        default:
            state = .none
            nextStep = now + Self.retryInterval
            return .failed
        }
    }

    private mutating func hold(_ id: LeaseID, sentAt: MonotonicInstant, timeToLive: Duration) {
        state = .held(id, renewal: nil)
        // An engine may grant more than was asked for; it is not relied on.
        validUntil = sentAt + min(timeToLive, self.timeToLive)
        nextStep = sentAt + renewalInterval
    }
}
