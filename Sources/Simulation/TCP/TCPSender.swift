import MediaCore

/// A TCP sender, sans I/O: a window of segments under Reno or CUBIC, with selective acknowledgements.
///
/// What is left out: the handshake, the receiver's window (never the limit), HyStart and tail loss probes.
struct TCPSender: Sendable {
    private(set) var control: TCPCongestionControl
    private(set) var timer = RetransmissionTimer()
    private var scoreboard = TCPScoreboard()
    /// How many segments there are to send; nil without end.
    private let total: Int64?
    /// While a loss is repaired: what had been sent when it was found.
    private var recoveryEnd: Int64?
    /// Until what was sent is acknowledged, no further mark counts.
    private var markEnd: Int64 = 0
    private(set) var deadline: MonotonicInstant?

    init(variant: TCPVariant, segments: Int64?) {
        control = TCPCongestionControl(variant: variant)
        total = segments
    }

    /// Whether all was acknowledged.
    var isDone: Bool { total.map { scoreboard.first >= $0 } ?? false }

    /// The next segment to send now; nil while the window is full or nothing is left.
    mutating func nextSegment(now: MonotonicInstant) -> Int64? {
        guard Double(scoreboard.pipe) < control.window.rounded(.down) else { return nil }
        var segment = scoreboard.resendLost()
        if segment == nil, total.map({ scoreboard.next < $0 }) ?? true { segment = scoreboard.sendNew() }
        if segment != nil, deadline == nil { deadline = now + timer.timeout }
        return segment
    }

    mutating func acknowledged(_ acknowledgement: TCPAcknowledgement, now: MonotonicInstant) {
        timer.measured(max(now - acknowledgement.echo, .microseconds(1)))
        let (newly, isAdvance) = scoreboard.acknowledge(
            upTo: acknowledgement.end, sacked: acknowledgement.sacked)
        if let end = recoveryEnd, scoreboard.first >= end { recoveryEnd = nil }
        if scoreboard.hasLost, recoveryEnd == nil {
            recoveryEnd = scoreboard.next
            control.reduce(now: now)
        } else if acknowledgement.isMarked, recoveryEnd == nil, scoreboard.first >= markEnd {
            markEnd = scoreboard.next
            control.reduce(now: now)
        } else if recoveryEnd == nil || control.isInSlowStart, newly > 0 {
            control.acknowledged(newly, roundTripTime: timer.smoothed ?? .zero, now: now)
        }
        if isAdvance { deadline = scoreboard.next > scoreboard.first ? now + timer.timeout : nil }
    }

    /// The timer ran out.
    mutating func timedOut(now: MonotonicInstant) {
        timer.expired()
        control.timedOut(now: now)
        scoreboard.loseAll()
        recoveryEnd = scoreboard.next
        deadline = now + timer.timeout
    }
}
