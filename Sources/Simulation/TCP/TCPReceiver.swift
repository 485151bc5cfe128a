import MediaCore

/// An acknowledgement of a TCP receiver.
struct TCPAcknowledgement: Sendable {
    /// The first missing segment.
    var end: Int64
    /// The received ranges above `end`, the newest first; at most three ranges (RFC 2018, with timestamps).
    var sacked: [Range<Int64>]
    /// The time at which the acknowledged segment was sent (RFC 7323).
    var echo: MonotonicInstant
    /// True if a segment arrived with a congestion mark since the last acknowledgement.
    var isMarked: Bool
}

/// A TCP receiver. It acknowledges every second segment, or after a delay; it acknowledges segments that are out of
/// order at once (RFC 5681, section 4.2).
struct TCPReceiver: Sendable {
    static let acknowledgementDelay = Duration.milliseconds(40)

    private var end: Int64 = 0
    /// The received ranges above `end`: disjoint, ascending.
    private var ranges: [Range<Int64>] = []
    private var newest: Int64 = 0
    private var unacknowledged = 0
    private var echo = MonotonicInstant.zero
    private var isMarked = false
    /// The time of the next delayed acknowledgement; nil if none waits.
    private(set) var deadline: MonotonicInstant?

    /// Receives a segment; returns the number of segments that are newly in order, and an acknowledgement if one is due
    /// at once.
    mutating func receive(
        _ number: Int64, sentAt: MonotonicInstant, isMarked: Bool, now: MonotonicInstant
    ) -> (inOrder: Int, acknowledgement: TCPAcknowledgement?) {
        if unacknowledged == 0 { echo = sentAt }
        if isMarked { self.isMarked = true }
        unacknowledged += 1
        let before = end
        let hadGap = !ranges.isEmpty
        if number == end {
            end += 1
            if let first = ranges.first, first.lowerBound == end {
                end = first.upperBound
                ranges.removeFirst()
            }
        } else if number > end {
            newest = number
            insert(number)
        }
        let isInOrder = number == before && !hadGap
        if !isInOrder { echo = sentAt }
        if !isInOrder || unacknowledged >= 2 || isMarked { return (Int(end - before), acknowledge()) }
        deadline = now + Self.acknowledgementDelay
        return (Int(end - before), nil)
    }

    mutating func acknowledge() -> TCPAcknowledgement {
        unacknowledged = 0
        deadline = nil
        defer { isMarked = false }
        guard !ranges.isEmpty else {
            return TCPAcknowledgement(end: end, sacked: [], echo: echo, isMarked: isMarked)
        }
        var sacked = ranges.filter { $0.contains(newest) }
        sacked += ranges.reversed().filter { !$0.contains(newest) }.prefix(2)
        return TCPAcknowledgement(end: end, sacked: sacked, echo: echo, isMarked: isMarked)
    }

    private mutating func insert(_ number: Int64) {
        let place = ranges.firstIndex { $0.upperBound >= number } ?? ranges.count
        guard place < ranges.count, ranges[place].lowerBound <= number + 1 else {
            ranges.insert(number..<number + 1, at: place)
            return
        }
        let range = ranges[place]
        ranges[place] = min(range.lowerBound, number)..<max(range.upperBound, number + 1)
        if place + 1 < ranges.count, ranges[place + 1].lowerBound == ranges[place].upperBound {
            ranges[place] = ranges[place].lowerBound..<ranges[place + 1].upperBound
            ranges.remove(at: place + 1)
        }
    }
}
