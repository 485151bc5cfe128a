package import MediaCore
package import VideoCoding

/// How an encoder with a single receiver goes on after a loss without a keyframe, where the receiver was negotiated to
/// go on with any picture that refers to nothing it does not have (RFC 4585 6.3.3, RPSI).
///
/// The encoder keeps its keyframe, and from time to time another frame, as a long-term reference. The receiver tells of
/// pictures that its decoder has whole (`acknowledged`): with a picture it has all that came before it, back to the
/// last point at which it could begin. So a kept frame that is not behind the told picture has arrived, with all that
/// it was made of, however that came about: by itself, sent again or recovered. Transport-wide feedback could not say
/// so much: it knows of no packet that forward error correction recovered, nor whether what was sent again came in
/// time.
///
/// A value that is handed what happens. Instants are those of the frames' pictures, by which the encoder knows them,
/// too.
package struct ReferenceRecovery {
    /// The answer to a loss.
    package enum Answer: Hashable {
        /// The next frame is to refer to nothing but what has arrived.
        case refresh
        /// A keyframe is needed.
        case keyframe
        /// None: the last frame answers it already, or pictures become whole by themselves.
        case wait
    }

    /// Orders for the next frame.
    package struct EncodeRequest: Hashable {
        /// A reference that has arrived.
        package var acknowledged: LongTermReference?
        /// The frames from this instant on may not have arrived: refer to none of them.
        package var lostFrom: MonotonicInstant?
    }

    /// So many pictures are tried before a keyframe.
    private static let attempts = 2
    /// The older the frame that is gone back to, the less a picture that refers to it alone saves.
    private static let longestReach = Duration.seconds(5)
    /// Beyond the round trip, what receiver and sender take to answer.
    private static let margin = Duration.milliseconds(100)
    /// How many rounds of intra refresh a receiver is given to become whole: it may have begun in the midst of one.
    private static let rounds = 2.5

    /// The encoder's ability.
    package private(set) var method = LossRecovery.keyframes
    /// The last frame with which a receiver can begin, a keyframe or one that was to repair a loss.
    private var restart: (time: MonotonicInstant, isAcknowledged: Bool)?
    /// The keyframe, which is kept, and the last frame after it that is, until they are told of.
    private var keptKeyframe: MonotonicInstant?
    private var kept: (time: MonotonicInstant, reference: LongTermReference)?
    /// The newest of the kept frames that have arrived.
    package private(set) var base: MonotonicInstant?
    /// The newest picture that has arrived.
    private var newest: MonotonicInstant?
    private var toTell: LongTermReference?
    private var attemptsInVain = 0
    /// When a receiver of refreshed pictures began to miss something, and when it last said so.
    private var missing: (since: MonotonicInstant, last: MonotonicInstant)?
    /// A refresh is to come.
    package private(set) var isWanted = false

    package init() {}

    // MARK: Frames

    /// A frame came out of the encoder and is sent.
    ///
    /// - Parameters:
    ///   - reference: The frame that is kept from this one on.
    ///   - method: What the encoder can do about losses from the last keyframe on.
    ///   - isRefresh: Whether it refers to nothing but what had arrived.
    package mutating func encoded(
        type: FrameType, reference: LongTermReference?, at time: MonotonicInstant, method: LossRecovery, isRefresh: Bool
    ) {
        if type == .idr {
            self = ReferenceRecovery()
            self.method = method
            restart = (time, false)
            if method == .longTermReferences { keptKeyframe = time }
        } else if isRefresh {
            isWanted = false
            attemptsInVain += 1
            restart = (time, false)
            // The receiver may begin anew here: what it told of later pictures would say nothing of this one.
            (keptKeyframe, kept) = (nil, nil)
        }
        if let reference { kept = (time, reference) }
    }

    /// Takes the orders for the next frame. A wish for a refresh stays until the refresh has come out.
    package mutating func takeRequest() -> EncodeRequest {
        defer { toTell = nil }
        return EncodeRequest(acknowledged: toTell, lostFrom: isWanted ? newest.map { $0 + .nanoseconds(1) } : nil)
    }

    /// A refresh came out as something else.
    package mutating func refreshFailed() { isWanted = false }

    // MARK: Feedback

    /// The receiver has a picture whole. Returns whether it went on with a refresh.
    package mutating func acknowledged(_ time: MonotonicInstant) -> Bool {
        guard method == .longTermReferences, newest.map({ time > $0 }) ?? true else { return false }
        if let keptKeyframe, keptKeyframe <= time { (base, self.keptKeyframe) = (keptKeyframe, nil) }
        if let kept, kept.time <= time { (base, toTell, self.kept) = (kept.time, kept.reference, nil) }
        // A picture from before a keyframe, or of another stream, is none of these.
        guard base != nil else { return false }
        newest = time
        guard let restart, !restart.isAcknowledged, restart.time <= time else { return false }
        self.restart = (restart.time, true)
        defer { attemptsInVain = 0 }
        return attemptsInVain > 0
    }

    /// The receiver lost a picture, and what was to repair that did not come in time.
    package mutating func lost(roundTripTime: Duration, now: MonotonicInstant) -> Answer {
        guard !isWanted else { return .wait }
        if let restart, !restart.isAcknowledged, now - restart.time < roundTripTime + Self.margin {
            // It was said before that could have arrived.
            return .wait
        }
        switch method {
        case .keyframes: return .keyframe
        case .intraRefresh(let round):
            let patience = round * Self.rounds + roundTripTime
            if let missing, now - missing.last < patience {
                self.missing?.last = now
                return now - missing.since < patience ? .wait : .keyframe
            }
            missing = (now, now)
            return .wait
        case .longTermReferences:
            guard let base, now - base <= Self.longestReach, attemptsInVain < Self.attempts else { return .keyframe }
            isWanted = true
            return .refresh
        }
    }
}

/// How an encoder's stream goes on after a loss.
package enum LossRecovery: Hashable {
    case keyframes
    /// Frames are kept for the long term, and gone back to.
    case longTermReferences
    /// Each picture renews a part, and all of it is new within this time.
    case intraRefresh(round: Duration)

    /// Its name in the room's state.
    package var name: String {
        switch self {
        case .keyframes: "keyframe"
        case .longTermReferences: "ltr"
        case .intraRefresh: "intra-refresh"
        }
    }
}

/// A receiver's losses that were not repaired in time.
package struct RecoveryCounters: Hashable, Sendable {
    /// Pictures sent that refer to nothing but what had arrived.
    package var refreshes: UInt64 = 0
    /// Refreshes with which the receiver went on.
    package var refreshesUsed: UInt64 = 0
    /// Losses for which it took a keyframe all the same.
    package var keyframes: UInt64 = 0

    package init(refreshes: UInt64 = 0, refreshesUsed: UInt64 = 0, keyframes: UInt64 = 0) {
        self.refreshes = refreshes
        self.refreshesUsed = refreshesUsed
        self.keyframes = keyframes
    }
}
