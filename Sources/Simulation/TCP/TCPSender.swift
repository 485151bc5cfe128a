import MediaCore

/// A TCP sender, sans I/O: a window of segments under Reno or CUBIC, with selective acknowledgements.
///
/// It has no handshake, no receiver's window (which would never be the limit), no HyStart and no tail loss probes.
struct TCPSender: Sendable {
    private(set) var control: TCPCongestionControl
    private(set) var timer = RetransmissionTimer()
    private var scoreboard = TCPScoreboard()
    /// The number of segments to send; nil without end.
    private let total: Int64?
    /// The end of a recovery: the next new segment when the loss was found. Nil outside of recovery.
    private var recoveryEnd: Int64?
    /// The end of the reaction to a mark: further marks are ignored until the segments before it are acknowledged.
    private var markEnd: Int64 = 0
    private(set) var deadline: MonotonicInstant?

    init(variant: TCPVariant, segments: Int64?) {
        control = TCPCongestionControl(variant: variant)
        total = segments
    }

    /// True if all segments were acknowledged.
    var isDone: Bool { total.map { scoreboard.first >= $0 } ?? false }

    /// Returns the next segment to send now; nil if the window is full or no segment is left.
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

    /// Handles a retransmission timeout.
    mutating func timedOut(now: MonotonicInstant) {
        timer.expired()
        control.timedOut(now: now)
        scoreboard.loseAll()
        recoveryEnd = scoreboard.next
        deadline = now + timer.timeout
    }
}
