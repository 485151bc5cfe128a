import MediaCore

/// A receiver's choice between an encoder's frames and a source's own packets.
///
/// In both directions the old ones continue until there is a keyframe of the new ones. The return to an encoder first
/// needs a picture of the source, which is not decoded while nobody needs it.
struct ForwardingLink {
    enum Phase: Equatable {
        /// An encoder's frames are sent.
        case encoded
        /// An encoder's frames are sent until a keyframe of the source comes.
        case awaiting(SourceID, since: MonotonicInstant)
        /// The source's packets are sent.
        case passing(SourceID)
        /// The source's packets are sent until the source is decoded again.
        case fallingBack(SourceID, since: MonotonicInstant)
        /// The source's packets are sent until an encoder's keyframe comes.
        case returning(SourceID)
    }

    var policy = ForwardingPolicy()
    private(set) var phase = Phase.encoded
    /// The reason for which the source's packets are not sent, or must end.
    var obstacle: ForwardingObstacle?
    /// True if frames after the last one sent are skipped until an encoder takes over: the link is full, or the frames
    /// must not be seen.
    private(set) var isStopped = false
    /// The source whose packets were sent last, and the time until which missing ones may still come.
    private(set) var gaps: (source: SourceID, until: MonotonicInstant)?
    /// True if the return to an encoder needs a keyframe of the source.
    private(set) var needsPicture = false

    /// The number of changes between the source's packets and an encoder's frames.
    private(set) var switches: UInt64 = 0
    var packets: UInt64 = 0

    private static let gapsFillFor = Duration.seconds(1)

    /// The source whose packets the receiver gets.
    var source: SourceID? {
        switch phase {
        case .encoded, .awaiting: nil
        case .passing(let source), .fallingBack(let source, _), .returning(let source): source
        }
    }

    var awaited: SourceID? {
        if case .awaiting(let source, _) = phase { source } else { nil }
    }

    var isPassing: Bool {
        if case .passing = phase { true } else { false }
    }

    /// True if pictures are composed and encoded for the receiver.
    var isComposed: Bool {
        switch phase {
        case .encoded, .awaiting, .returning: true
        case .passing, .fallingBack: false
        }
    }

    mutating func await(_ source: SourceID, now: MonotonicInstant) { phase = .awaiting(source, since: now) }

    mutating func giveUpWaiting() { phase = .encoded }

    mutating func begin(_ source: SourceID, now: MonotonicInstant) {
        phase = .passing(source)
        (isStopped, needsPicture, gaps) = (false, false, nil)
        switches &+= 1
        policy.begin(now: now)
    }

    /// - Parameter needsPicture: True if the source's picture must be decoded before one is composed of it.
    mutating func fallBack(because reason: ForwardingObstacle, needsPicture: Bool, now: MonotonicInstant) {
        guard case .passing(let source) = phase else { return }
        phase = .fallingBack(source, since: now)
        obstacle = reason
        self.needsPicture = needsPicture
        if reason == .cameraOff { isStopped = true }
        policy.end(because: reason, now: now)
    }

    mutating func stop() { isStopped = true }

    /// Begins to compose.
    mutating func compose() {
        guard case .fallingBack(let source, _) = phase else { return }
        phase = .returning(source)
    }

    /// An encoder's keyframe takes over.
    mutating func encoderTookOver(now: MonotonicInstant) {
        guard let source else { return }
        gaps = (source, now + Self.gapsFillFor)
        phase = .encoded
        isStopped = false
        switches &+= 1
    }

    /// The receiver is sent no video any more.
    mutating func reset() {
        policy.interrupt()
        guard phase != .encoded else { return }
        phase = .encoded
        (isStopped, gaps) = (false, nil)
    }

    mutating func forgetGaps() { gaps = nil }
}
