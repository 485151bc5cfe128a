import Compositing
import MediaCore

/// A receiver between an encoder's frames and a source's own packets.
///
/// Each way the old one goes on until a keyframe of the new one is there. Back to an encoder that takes a picture of
/// the source first, which is not decoded while nobody needs it.
struct ForwardingLink {
    enum Phase: Equatable {
        /// An encoder's frames are sent.
        case encoded
        /// They still are, until a keyframe of the source comes.
        case awaiting(SourceID, since: MonotonicInstant)
        /// The source's packets are sent.
        case passing(SourceID)
        /// They still are, until the source is decoded again.
        case fallingBack(SourceID, since: MonotonicInstant)
        /// They still are, until an encoder's keyframe comes.
        case returning(SourceID)
    }

    var policy = ForwardingPolicy()
    private(set) var phase = Phase.encoded
    /// Why the source's packets are not sent, or are not to be sent any more.
    var obstacle: ForwardingObstacle?
    /// Whether frames behind the last one sent are left out until an encoder takes over: the link has too much to do,
    /// or they are not to be seen.
    private(set) var isStopped = false
    /// The source whose packets were sent last, and until when those that were missed may still come.
    private(set) var gaps: (source: SourceID, until: MonotonicInstant)?
    /// Whether the fall-back needs a keyframe of the source.
    private(set) var needsPicture = false

    /// How often the source's packets took the place of an encoder's frames, or the other way round.
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

    /// Whether pictures are composed and encoded for the receiver.
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

    /// - Parameter needsPicture: Whether the source's picture is to be decoded before one is composed of it.
    mutating func fallBack(because reason: ForwardingObstacle, needsPicture: Bool, now: MonotonicInstant) {
        guard case .passing(let source) = phase else { return }
        phase = .fallingBack(source, since: now)
        obstacle = reason
        self.needsPicture = needsPicture
        if reason == .cameraOff { isStopped = true }
        policy.end(because: reason, now: now)
    }

    mutating func stop() { isStopped = true }

    /// Composing begins.
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
        guard phase != .encoded else { return }
        phase = .encoded
        (isStopped, gaps) = (false, nil)
    }

    mutating func forgetGaps() { gaps = nil }
}
