public import MediaCore
internal import NIOCore
public import RTP

/// The receiver side of congestion control feedback (RFC 8888): remembers the arrivals of each source's packets and
/// makes reports.
///
/// If possible each packet is reported twice, so that one lost report loses nothing.
public struct CongestionFeedbackRecorder: Sendable {
    /// The number of remembered sequence numbers of a source; a larger jump starts again.
    public static let window = 4096
    /// The sources that are reported on at most. Another one takes the place of the one that has been silent for
    /// longest; while none is silent, its packets are not counted.
    public static let maximumSourceCount = 8
    /// The packets of a report at most: with two bytes for each, and twelve for each source, it fits one datagram.
    static let maximumPacketCount = 512
    /// A source from which nothing new has come for this time is silent.
    static let silence = Duration.seconds(1)

    /// The SSRC that reports are sent from.
    public var senderSSRC: UInt32
    /// The time between two reports.
    public var interval: Duration
    /// True if a frame's last packet is reported at once.
    public var reportsFrameEnds: Bool

    private var sources: [Arrivals] = []
    /// The limit of numbers that are remembered as missing, as for transport-wide numbers.
    private var gaps = TokenBucket(rate: 100_000, capacity: 65_536)
    private var lastReportTime: MonotonicInstant?
    private var firstUnreportedTime: MonotonicInstant?
    private var isFrameComplete = false

    public init(senderSSRC: UInt32, interval: Duration = .milliseconds(50), reportsFrameEnds: Bool = true) {
        self.senderSSRC = senderSSRC
        self.interval = interval
        self.reportsFrameEnds = reportsFrameEnds
    }

    /// A packet of a source arrived now.
    public mutating func received(
        ssrc: UInt32, sequence: UInt16, ecn: ECNCodepoint, isLastOfFrame: Bool, now: MonotonicInstant
    ) {
        guard let index = place(of: ssrc, now: now),
            sources[index].insert(sequence, ecn: ecn, gaps: &gaps, now: now)
        else { return }
        firstUnreportedTime = firstUnreportedTime ?? now
        if isLastOfFrame, reportsFrameEnds { isFrameComplete = true }
    }

    private mutating func place(of ssrc: UInt32, now: MonotonicInstant) -> Int? {
        if let known = sources.firstIndex(where: { $0.ssrc == ssrc }) { return known }
        guard sources.count >= Self.maximumSourceCount else {
            sources.append(Arrivals(ssrc: ssrc, now: now))
            return sources.count - 1
        }
        guard let index = sources.indices.min(by: { sources[$0].lastNews < sources[$1].lastNews }),
            now - sources[index].lastNews >= Self.silence
        else { return nil }
        sources[index] = Arrivals(ssrc: ssrc, now: now)
        return index
    }

    /// The time of the next report; `distantFuture` while there is nothing to report.
    public var nextFeedbackTime: MonotonicInstant {
        guard let firstUnreportedTime else { return .distantFuture }
        guard let lastReportTime, !isFrameComplete else { return firstUnreportedTime }
        return max(lastReportTime + interval, firstUnreportedTime)
    }

    /// Makes reports of the arrivals since the last report but one, in the order of the numbers; none if there are no
    /// new ones. Several are necessary after an outage of a fast stream.
    public mutating func makeFeedback(now: MonotonicInstant) -> [CongestionControlFeedback] {
        guard firstUnreportedTime != nil else { return [] }
        firstUnreportedTime = nil
        isFrameComplete = false
        lastReportTime = now
        var reports: [[CongestionControlFeedback.Stream]] = []
        var room = 0
        for index in sources.indices {
            guard let stream = sources[index].report(now: now) else { continue }
            var rest = stream.packets[...]
            while !rest.isEmpty {
                if room == 0 {
                    reports.append([])
                    room = Self.maximumPacketCount
                }
                let begin = stream.beginSequence &+ UInt16(truncatingIfNeeded: rest.startIndex)
                let packets = rest.prefix(room)
                reports[reports.count - 1].append(
                    CongestionControlFeedback.Stream(
                        ssrc: stream.ssrc, beginSequence: begin, packets: Array(packets)))
                rest = rest.dropFirst(packets.count)
                room -= packets.count
            }
        }
        return reports.map {
            CongestionControlFeedback(senderSSRC: senderSSRC, streams: $0, reportTimestamp: Self.timestamp(now))
        }
    }

    /// The middle 32 bits of an NTP time that counts from the clock's origin: units of 2⁻¹⁶ s.
    static func timestamp(_ time: MonotonicInstant) -> UInt32 {
        let (seconds, rest) = time.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return UInt32(truncatingIfNeeded: seconds &* 65_536 &+ rest &* 65_536 / 1_000_000_000)
    }

    /// The arrivals of one source's packets.
    private struct Arrivals: Sendable {
        let ssrc: UInt32
        /// The element `i` belongs to the sequence number `firstSequence + i`.
        private var arrivals = CircularBuffer<(time: MonotonicInstant, ecn: ECNCodepoint)?>()
        private var firstSequence: Int64 = 0
        /// The end of the last report.
        private var reportedEnd: Int64 = 0
        private var unwrapper = SequenceUnwrapper()
        private var restartRun = RestartRun()
        /// The time of the last packet that was news.
        private(set) var lastNews: MonotonicInstant

        init(ssrc: UInt32, now: MonotonicInstant) {
            self.ssrc = ssrc
            lastNews = now
        }

        /// Returns true if the packet is news.
        mutating func insert(
            _ number: UInt16, ecn: ECNCodepoint, gaps: inout TokenBucket, now: MonotonicInstant
        ) -> Bool {
            let sequence = unwrapper.unwrap(number)
            let end = firstSequence + Int64(arrivals.count)
            // Retransmissions may be under the same numbers, but not while nothing else comes.
            let isRestart =
                sequence < firstSequence && restartRun.isRestart(number)
                && now - lastNews >= CongestionFeedbackRecorder.silence
            if arrivals.isEmpty || isRestart || sequence >= end + Int64(CongestionFeedbackRecorder.window)
                || (sequence > end && !gaps.take(Double(sequence - end), now: now))
            {
                arrivals.removeAll(keepingCapacity: true)
                firstSequence = sequence
                reportedEnd = sequence
            }
            // Packets older than the last report but one are given up.
            guard sequence >= firstSequence else { return false }
            let index = Int(sequence - firstSequence)
            while arrivals.count <= index { arrivals.append(nil) }
            guard arrivals[offset: index] == nil else { return false }
            arrivals[offset: index] = (now, ecn)
            lastNews = now
            restartRun.end()
            while arrivals.count > CongestionFeedbackRecorder.window { removeFirst(1) }
            return true
        }

        /// Returns the arrivals since the last report but one; nil without any.
        mutating func report(now: MonotonicInstant) -> CongestionControlFeedback.Stream? {
            guard !arrivals.isEmpty else { return nil }
            let packets = arrivals.map { arrival in
                arrival.map { CongestionControlFeedback.PacketArrival(ecn: $0.ecn, age: now - $0.time) }
            }
            let begin = UInt16(truncatingIfNeeded: firstSequence)
            removeFirst(Int(min(max(reportedEnd - firstSequence, 0), Int64(arrivals.count))))
            reportedEnd = firstSequence + Int64(arrivals.count)
            return CongestionControlFeedback.Stream(ssrc: ssrc, beginSequence: begin, packets: packets)
        }

        private mutating func removeFirst(_ count: Int) {
            arrivals.removeFirst(count)
            firstSequence += Int64(count)
        }
    }
}
