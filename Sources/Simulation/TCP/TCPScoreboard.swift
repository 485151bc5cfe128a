import NIOCore

/// A TCP sender's knowledge of the segments under way (RFC 6675, with segments instead of bytes).
struct TCPScoreboard: Sendable {
    private struct Segment {
        var isSacked = false
        var isLost = false
        /// True if it was sent again since it was found lost.
        var isResent = false
    }

    static let duplicateThreshold: Int64 = 3

    private var segments = CircularBuffer<Segment>()
    private(set) var first: Int64 = 0
    /// The highest selectively acknowledged segment, plus one.
    private var highestSacked: Int64 = 0
    /// The segment up to which losses were searched.
    private var lossSearched: Int64 = 0
    /// The segments that are probably in the network (the RFC's pipe).
    private(set) var pipe = 0
    /// The lost segments that wait for retransmission.
    private(set) var lostCount = 0

    /// The next segment that was never sent.
    var next: Int64 { first + Int64(segments.count) }
    var hasLost: Bool { lostCount > 0 }

    /// Sends a new segment; returns its number.
    mutating func sendNew() -> Int64 {
        segments.append(Segment())
        pipe += 1
        return next - 1
    }

    /// Sends the first lost segment again; nil if none waits.
    mutating func resendLost() -> Int64? {
        guard lostCount > 0,
            let index = segments.firstIndex(where: { $0.isLost && !$0.isResent && !$0.isSacked })
        else { return nil }
        segments[index].isResent = true
        lostCount -= 1
        pipe += 1
        return first + Int64(segments.distance(from: segments.startIndex, to: index))
    }

    /// Applies an acknowledgement; returns the number of newly acknowledged segments, and whether it moved the first
    /// one.
    mutating func acknowledge(upTo end: Int64, sacked: [Range<Int64>]) -> (newly: Int, isAdvance: Bool) {
        var newly = 0
        let isAdvance = end > first
        while first < min(end, next), let segment = segments.popFirst() {
            if !segment.isSacked {
                newly += 1
                remove(segment)
            }
            first += 1
        }
        for range in sacked {
            for number in max(range.lowerBound, first)..<max(min(range.upperBound, next), max(range.lowerBound, first))
            {
                let index = Int(number - first)
                guard !segments[offset: index].isSacked else { continue }
                newly += 1
                remove(segments[offset: index])
                segments[offset: index].isSacked = true
            }
            highestSacked = max(highestSacked, min(range.upperBound, next))
        }
        findLost()
        return (newly, isAdvance)
    }

    /// Marks all unacknowledged segments as lost, after a timeout.
    mutating func loseAll() {
        pipe = 0
        lostCount = 0
        for index in 0..<segments.count where !segments[offset: index].isSacked {
            segments[offset: index].isLost = true
            segments[offset: index].isResent = false
            lostCount += 1
        }
        lossSearched = next
    }

    /// Removes a segment that left the network from the counts.
    private mutating func remove(_ segment: Segment) {
        if segment.isLost, !segment.isResent { lostCount -= 1 } else { pipe -= 1 }
    }

    /// Finds lost segments: those with at least three selectively acknowledged segments above them.
    private mutating func findLost() {
        lossSearched = max(lossSearched, first)
        while lossSearched + Self.duplicateThreshold < highestSacked {
            let index = Int(lossSearched - first)
            if !segments[offset: index].isSacked, !segments[offset: index].isLost {
                segments[offset: index].isLost = true
                lostCount += 1
                pipe -= 1
            }
            lossSearched += 1
        }
    }
}
