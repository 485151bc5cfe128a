public import MediaCore
internal import NIOCore
public import RTP

/// The sender side of transport-wide feedback (draft-holmer-rmcat-transport-wide-cc-extensions-01) and of RFC 8888:
/// numbers packets, remembers them and matches feedback to them. A transport uses one of the two.
///
/// Feedback is not trusted. Numbers that were never sent or already answered are ignored, and so is an arrival that
/// does not fit the receiver's clock; feedback without news changes nothing. The memory is limited in packets and in
/// time.
public struct TransportFeedbackAdapter: Sendable {
    /// The largest number of remembered packets.
    public static let maximumPacketCount = 8192
    /// The longest time for which a packet is remembered while others follow it.
    public static let maximumAge = Duration.seconds(10)

    private enum State: UInt8 {
        case unknown
        case reportedMissing
        case reportedReceived
    }

    private struct Entry {
        var sendTime: MonotonicInstant
        var size: Int32
        var probeClusterID: Int32
        var state: State
    }

    private static let noProbe: Int32 = -1

    /// The packets `firstSequence` and on, without a gap.
    private var entries = CircularBuffer<Entry>()
    private var firstSequence: Int64 = 0
    /// One above the newest sequence number that feedback has covered.
    private var inFlightStart: Int64 = 0
    private var referenceTimes = ReceiverTimeline(counting: .referenceTime)
    private var reportTimestamps = ReceiverTimeline(counting: .reportTimestamp)

    /// The sizes of the packets sent since the newest that feedback spoke of.
    public private(set) var dataInFlight = DataSize.zero
    /// The time from sending a packet to its feedback, without the time that the feedback waited at the receiver for
    /// younger packets; of the last feedback that reported one received.
    public private(set) var roundTripTime: Duration?

    /// Creates an adapter that gives out sequence numbers from zero.
    public init() {}

    private var nextSequence: Int64 { firstSequence + Int64(entries.count) }

    /// Numbers and remembers a packet that leaves now: `sequence` goes into its header extension, `packet` to the
    /// controller.
    public mutating func packetSent(
        size: DataSize, probeClusterID: Int?, now: MonotonicInstant
    ) -> (sequence: UInt16, packet: SentPacket) {
        forgetOld(now: now)
        let sequence = nextSequence
        let size = DataSize(bytes: min(max(size.bytes, 0), Int(Int32.max)))
        entries.append(
            Entry(
                sendTime: now, size: Int32(size.bytes),
                probeClusterID: probeClusterID.flatMap { Int32(exactly: $0) } ?? Self.noProbe, state: .unknown))
        dataInFlight += size
        let packet = SentPacket(
            transportSequence: sequence, size: size, sendTime: now, probeClusterID: probeClusterID)
        return (UInt16(truncatingIfNeeded: sequence), packet)
    }

    /// Matches feedback to sent packets; nil if it has no news.
    public mutating func handle(_ feedback: TransportFeedback, now: MonotonicInstant) -> TransportFeedbackReport? {
        let reading = referenceTimes.reading(UInt32(bitPattern: feedback.referenceTime), now: now)
        var sinceReading = Duration.zero
        var results: [PacketResult] = []
        results.reserveCapacity(min(feedback.packets.count, entries.count))
        // Packets left out were not received. Of thousands of them, only those that are remembered cost anything.
        let base = place(of: feedback.baseSequence)
        var next = base
        for status in feedback.packets {
            let place = base + Int(status.sequence &- feedback.baseSequence)
            guard place >= next else { continue }
            for missing in (next..<place).clamped(to: 0..<entries.count) {
                if let result = match(at: missing, receiveTime: nil) { results.append(result) }
            }
            next = place + 1
            var arrival: MonotonicInstant?
            if let delta = status.receiveDelta {
                sinceReading += delta
                // The deltas of one report may add up to days: such a time is neither a loss nor of use.
                guard sinceReading <= ReceiverTimeline.tolerance, sinceReading >= .zero - ReceiverTimeline.tolerance
                else { continue }
                arrival = reading.instant + sinceReading
            }
            if let result = match(at: place, receiveTime: arrival) { results.append(result) }
        }
        guard !results.isEmpty else { return nil }
        roundTripTime = Self.place(&results, from: reading, on: &referenceTimes, now: now) ?? roundTripTime
        return report(results, now: now)
    }

    /// Matches a report (RFC 8888) to sent packets; nil if it has no news.
    ///
    /// - Parameter transportSequence: Returns the transport-wide sequence number of the packet with an SSRC and RTP
    ///   sequence number; nil if there was none.
    public mutating func handle(
        _ feedback: CongestionControlFeedback, now: MonotonicInstant,
        transportSequence: (_ ssrc: UInt32, _ sequence: UInt16) -> UInt16?
    ) -> TransportFeedbackReport? {
        let reading = reportTimestamps.reading(feedback.reportTimestamp, now: now)
        var results: [PacketResult] = []
        for stream in feedback.streams {
            for (index, arrival) in stream.packets.enumerated() {
                let sequence = stream.beginSequence &+ UInt16(truncatingIfNeeded: index)
                guard let place = transportSequence(stream.ssrc, sequence).map({ place(of: $0) }) else { continue }
                if let arrival {
                    // A packet that came at an unknown time is neither missing nor of use.
                    guard let age = arrival.age else { continue }
                    if let result = match(at: place, receiveTime: reading.instant - age, ecn: arrival.ecn) {
                        results.append(result)
                    }
                } else if let result = match(at: place, receiveTime: nil) {
                    results.append(result)
                }
            }
        }
        guard !results.isEmpty else { return nil }
        roundTripTime = Self.place(&results, from: reading, on: &reportTimestamps, now: now) ?? roundTripTime
        if feedback.streams.count > 1 {
            results.sort { $0.sent.transportSequence < $1.sent.transportSequence }
        }
        return report(results, now: now)
    }

    /// Returns the news of feedback on the packet at a place in `entries`; nil without any, and where no packet is
    /// remembered.
    private mutating func match(
        at index: Int, receiveTime: MonotonicInstant?, ecn: ECNCodepoint = .notCapable
    ) -> PacketResult? {
        guard index >= 0, index < entries.count else { return nil }
        let sequence = firstSequence + Int64(index)
        acknowledge(upTo: sequence)
        let entry = entries[offset: index]
        let wasReportedMissing = entry.state == .reportedMissing
        guard entry.state == .unknown || (wasReportedMissing && receiveTime != nil) else { return nil }
        entries[offset: index].state = receiveTime != nil ? .reportedReceived : .reportedMissing
        return PacketResult(
            sent: SentPacket(
                transportSequence: sequence, size: DataSize(bytes: Int(entry.size)), sendTime: entry.sendTime,
                probeClusterID: entry.probeClusterID == Self.noProbe ? nil : Int(entry.probeClusterID)),
            receiveTime: receiveTime, wasReportedMissing: wasReportedMissing, ecn: ecn)
    }

    private func report(_ results: [PacketResult], now: MonotonicInstant) -> TransportFeedbackReport {
        TransportFeedbackReport(results: results, feedbackTime: now, dataInFlight: dataInFlight)
    }

    /// The place in `entries` of the newest packet with a sequence number; a negative one if it is not remembered.
    private func place(of sequence: UInt16) -> Int {
        entries.count - 1 - Int(UInt16(truncatingIfNeeded: nextSequence - 1) &- sequence)
    }

    /// Removes everything up to `sequence` from the data in flight.
    private mutating func acknowledge(upTo sequence: Int64) {
        var next = max(inFlightStart, firstSequence)
        while next <= sequence {
            dataInFlight -= DataSize(bytes: Int(entries[offset: Int(next - firstSequence)].size))
            next += 1
        }
        inFlightStart = max(inFlightStart, next)
    }

    /// Forgets all packets, of which nothing more will be heard. The numbers go on: a receiver takes smaller ones for
    /// those of late packets.
    public mutating func forgetSent() {
        firstSequence = nextSequence
        inFlightStart = firstSequence
        entries.removeAll(keepingCapacity: true)
        dataInFlight = .zero
        roundTripTime = nil
    }

    private mutating func forgetOld(now: MonotonicInstant) {
        while let first = entries.first,
            entries.count >= Self.maximumPacketCount || now - first.sendTime > Self.maximumAge
        {
            if firstSequence >= inFlightStart { dataInFlight -= DataSize(bytes: Int(first.size)) }
            entries.removeFirst()
            firstSequence += 1
        }
    }

    /// Moves a time line on to a reading, and arrivals to where they lie on it. Returns the round trip, in which the
    /// correction cancels; nil if nothing arrived.
    private static func place(
        _ results: inout [PacketResult], from reading: ReceiverTimeline.Reading, on line: inout ReceiverTimeline,
        now: MonotonicInstant
    ) -> Duration? {
        var newestArrival: MonotonicInstant?
        var shortest: Duration?
        for result in results {
            guard let receiveTime = result.receiveTime else { continue }
            newestArrival = max(newestArrival ?? receiveTime, receiveTime)
            let time = receiveTime - result.sent.sendTime
            shortest = min(shortest ?? time, time)
        }
        guard let newestArrival, let shortest else { return nil }
        let correction = line.advance(to: reading, shortestDelay: shortest, newestArrival: newestArrival)
        if correction != .zero {
            for index in results.indices {
                guard let receiveTime = results[index].receiveTime else { continue }
                results[index].receiveTime = receiveTime + correction
            }
        }
        let time = (now - newestArrival) + shortest
        // A receiver's clock that jumps makes nonsense of the difference; such a sample is not taken.
        return time >= .zero ? time : nil
    }
}
