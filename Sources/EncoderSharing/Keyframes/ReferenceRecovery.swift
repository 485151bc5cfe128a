package import MediaCore
package import VideoCoding

/// Decides how an encoder with a single receiver continues after a loss without a keyframe, if the receiver accepts
/// pictures that refer only to pictures that it has, as negotiated (RFC 4585 6.3.3, RPSI).
///
/// The encoder keeps its keyframe, and from time to time another frame, as a long-term reference. The receiver
/// acknowledges pictures that its decoder has completely (`acknowledged`): then it has all earlier pictures, too, back
/// to the last point at which decoding could begin. So a kept frame that is no later than the acknowledged picture has
/// arrived with all its references, directly, by retransmission or by forward error correction. Transport-wide feedback
/// could not show this: it does not know packets that forward error correction recovered, nor whether retransmissions
/// came in time.
///
/// It is a value that is told all events. Instants are those of the frames' pictures, by which the encoder knows them,
/// too.
package struct ReferenceRecovery {
    /// The answer to a loss.
    package enum Answer: Hashable {
        /// The next frame must refer only to pictures that have arrived.
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

    /// The number of such pictures before a keyframe.
    private static let attempts = 2
    /// The older the frame that is gone back to, the less a picture that refers to it alone saves.
    private static let longestReach = Duration.seconds(5)
    /// The time for receiver and sender to answer, beyond the round trip.
    private static let margin = Duration.milliseconds(100)
    /// The rounds of intra refresh after which a receiver should be whole: it may have begun in the middle of one.
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
    /// The time at which a receiver of refreshed pictures began to miss something, of its last report of it, and from
    /// the report before. The intervals grow, but none is twice the one before (`KeyframeRequester`): a report after a
    /// longer time, in which a round has passed, is of another loss.
    private var missing: (since: MonotonicInstant, last: MonotonicInstant, interval: Duration)?
    /// A refresh is to come.
    package private(set) var isWanted = false

    package init() {}

    // MARK: Frames

    /// Records an encoded frame that is sent.
    ///
    /// - Parameters:
    ///   - reference: The frame that is kept from this one on.
    ///   - method: The encoder's method for losses from the last keyframe on.
    ///   - isRefresh: True if it refers only to pictures that had arrived.
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
            // The receiver may begin here: its acknowledgement of later pictures would not cover earlier ones.
            (keptKeyframe, kept) = (nil, nil)
        }
        if let reference { kept = (time, reference) }
    }

    /// Takes the orders for the next frame. A requested refresh stays until the refresh has come out.
    package mutating func takeRequest() -> EncodeRequest {
        defer { toTell = nil }
        return EncodeRequest(acknowledged: toTell, lostFrom: isWanted ? newest.map { $0 + .nanoseconds(1) } : nil)
    }

    /// A refresh came out as something else.
    package mutating func refreshFailed() { isWanted = false }

    // MARK: Feedback

    /// The receiver has a picture whole. Returns true if it went on with a refresh.
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

    /// Records that the receiver lost a picture, and that its repair did not come in time.
    package mutating func lost(roundTripTime: Duration, now: MonotonicInstant) -> Answer {
        guard !isWanted else { return .wait }
        if let restart, !restart.isAcknowledged, now - restart.time < roundTripTime + Self.margin {
            // The report was sent before the last refresh could have arrived.
            return .wait
        }
        switch method {
        case .keyframes: return .keyframe
        case .intraRefresh(let round):
            if let missing, now - missing.last < max(round, missing.interval * 2) + roundTripTime + Self.margin {
                self.missing = (missing.since, now, now - missing.last)
                return now - missing.since < round * Self.rounds + roundTripTime ? .wait : .keyframe
            }
            missing = (now, now, .zero)
            return .wait
        case .longTermReferences:
            guard let base, now - base <= Self.longestReach, attemptsInVain < Self.attempts else { return .keyframe }
            isWanted = true
            return .refresh
        }
    }
}

/// The way in which an encoder's stream continues after a loss.
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
    /// The number of sent pictures that refer only to pictures that had arrived.
    package var refreshes: UInt64 = 0
    /// Refreshes with which the receiver went on.
    package var refreshesUsed: UInt64 = 0
    /// Losses that needed a keyframe all the same.
    package var keyframes: UInt64 = 0

    package init() {}
}
