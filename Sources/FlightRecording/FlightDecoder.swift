import CongestionControl
import MediaCore
import RTP

/// Reads a recording record by record.
///
/// The decoder accepts untrusted files. Its records contain only inputs that a sender's own code could produce: times
/// do not go backwards, sequence numbers grow, and sizes and rates are in bounds. Inputs that come from the network,
/// such as the receiver's clock, may have any value.
public struct FlightDecoder: Sendable {
    public let header: FlightHeader
    /// The ending of the recording; nil while `next` returns records.
    public private(set) var ending: FlightEnding?

    private let bytes: [UInt8]
    private var position: Int
    private var context: FlightContext
    private let limits: FlightBounds

    /// Reads the beginning of a file.
    public init(_ bytes: [UInt8]) throws(FlightDecodingError) {
        guard !bytes.isEmpty, bytes.starts(with: FlightFormat.magic.prefix(bytes.count)) else { throw .notAFlight }
        var reader = ByteReader(bytes.dropFirst(FlightFormat.magic.count))
        guard let version = reader.varint() else { throw .noHeader }
        guard version == FlightFormat.version else { throw .unknownVersion(version) }
        let offset = reader.position
        guard let count = reader.varint() else { throw .noHeader }
        guard count <= UInt64(FlightFormat.maximumRecordSize) else {
            throw .malformed(offset: offset, reason: "the header says that it has \(count) bytes")
        }
        guard count <= UInt64(reader.remaining) else { throw .noHeader }
        let end = reader.position + Int(count)
        var headerReader = ByteReader(bytes[reader.position..<end])
        guard let header = Self.header(&headerReader), headerReader.remaining == 0 else {
            throw .malformed(offset: offset, reason: "the header cannot be understood")
        }
        self.header = header
        self.bytes = bytes
        position = end
        context = FlightContext(start: header.start.nanoseconds)
        limits = FlightBounds(start: header.start)
    }

    private static func header(_ reader: inout ByteReader) -> FlightHeader? {
        guard let program = reader.text(), let controller = reader.text(), let minimum = reader.rate(),
            let start = reader.rate(), let maximum = reader.rate(), let time = reader.varint(),
            let wallClock = reader.signed(), let overhead = reader.signed(), let room = reader.text(),
            let participant = reader.text(), let participantID = reader.text(), let scalings = reader.varint(),
            FlightBounds.areLimits(minimum, start, maximum), time < 1 << 62, (0...65_535).contains(overhead),
            scalings <= UInt64(FlightFormat.maximumScalings)
        else { return nil }
        var scaling: [FlightHeader.Scaling] = []
        for _ in 0..<scalings {
            guard let name = reader.text(), let factor = reader.double(), factor.isFinite, factor > 0 else {
                return nil
            }
            scaling.append(FlightHeader.Scaling(name: name, factor: factor))
        }
        return FlightHeader(
            controller: controller, limits: RateLimits(minimum: minimum, start: start, maximum: maximum),
            scaling: scaling, start: MonotonicInstant(nanoseconds: Int64(time)), wallClockMilliseconds: wallClock,
            packetOverhead: DataSize(bytes: Int(overhead)), program: program, room: room, participant: participant,
            participantID: participantID)
    }

    /// Returns the next record; nil at the end, after which `ending` is set.
    public mutating func next() throws(FlightDecodingError) -> FlightRecord? {
        guard ending == nil else { return nil }
        let offset = position
        var reader = ByteReader(bytes[position...])
        guard let count = reader.varint(), count <= UInt64(reader.remaining) else {
            // A length that is too large may be the rest of a damaged one. The decoder cannot tell how the file was cut
            // off.
            ending = .truncated(offset: offset)
            return nil
        }
        if count == 0 {
            // After a crash, a file system may fill the unwritten part of a file with zeros.
            guard bytes[offset...].allSatisfy({ $0 == 0 }) else {
                throw .malformed(offset: offset, reason: "an empty record")
            }
            ending = .truncated(offset: offset)
            return nil
        }
        guard count <= UInt64(FlightFormat.maximumRecordSize) else {
            throw .malformed(offset: offset, reason: "a record of \(count) bytes")
        }
        let end = reader.position + Int(count)
        var body = ByteReader(bytes[reader.position..<end])
        position = end
        guard let kind = body.byte().flatMap(FlightFormat.Kind.init) else {
            throw .malformed(offset: offset, reason: "a record of an unknown kind")
        }
        if kind == .end {
            ending = try readEnd(&body, offset: offset)
            return nil
        }
        guard let step = body.signed(), let time = limits.time(after: context.time, step: step) else {
            throw .malformed(offset: offset, reason: "the time goes backwards, or too far ahead")
        }
        context.time = time.nanoseconds
        guard let event = event(kind, &body, time: time), body.remaining == 0 else {
            throw .malformed(offset: offset, reason: "a record of kind \(kind) is not possible as it stands")
        }
        return FlightRecord(time: time, event: event)
    }

    private func readEnd(_ body: inout ByteReader, offset: Int) throws(FlightDecodingError) -> FlightEnding {
        guard let reason = body.byte().flatMap(FlightFormat.EndReason.init), let lost = body.varint(),
            body.remaining == 0
        else { throw .malformed(offset: offset, reason: "an end that is not understood") }
        guard position == bytes.endIndex else {
            throw .malformed(offset: position, reason: "there is more behind the end")
        }
        return switch reason {
        case .closed: .closed
        case .limitReached: .limitReached
        case .overrun: .overrun(lostRecords: Int(clamping: lost))
        }
    }

    private mutating func event(
        _ kind: FlightFormat.Kind, _ body: inout ByteReader, time: MonotonicInstant
    ) -> FlightEvent? {
        switch kind {
        case .packetSent: return packet(&body, time: time).map(FlightEvent.packetSent)
        case .feedbackReceived: return report(&body, time: time).map(FlightEvent.feedbackReceived)
        case .remoteEstimateReceived: return body.rate().map(FlightEvent.remoteEstimateReceived)
        case .receiverReportReceived:
            guard let fractionLost = body.double(), (0...1).contains(fractionLost), let flag = body.byte(), flag <= 1
            else { return nil }
            guard flag == 1 else { return .receiverReportReceived(fractionLost: fractionLost, roundTripTime: nil) }
            guard let roundTripTime = body.duration(), FlightBounds.isPlausible(roundTripTime) else { return nil }
            return .receiverReportReceived(fractionLost: fractionLost, roundTripTime: roundTripTime)
        case .demandChanged:
            guard let rate = body.rate(), FlightBounds.rates.contains(rate) else { return nil }
            return .demandChanged(rate)
        case .limitsChanged:
            guard let minimum = body.rate(), let start = body.rate(), let maximum = body.rate(),
                FlightBounds.areLimits(minimum, start, maximum)
            else { return nil }
            return .limitsChanged(RateLimits(minimum: minimum, start: start, maximum: maximum))
        case .senderQueueChanged: return body.size().map(FlightEvent.senderQueueChanged)
        case .frameDelayChanged: return body.duration().map(FlightEvent.frameDelayChanged)
        case .decided: return decision(&body, time: time).map(FlightEvent.decided)
        case .end: return nil
        }
    }

    private mutating func packet(_ body: inout ByteReader, time: MonotonicInstant) -> SentPacket? {
        typealias Flags = FlightFormat.PacketFlags
        guard let flags = body.byte(), flags & ~Flags.all == 0 else { return nil }
        var jump: Int64 = 0
        if flags & Flags.otherSequence != 0 {
            guard let value = body.signed() else { return nil }
            jump = value
        }
        guard (0...FlightBounds.maximumSequenceJump).contains(jump), let size = body.size() else { return nil }
        var sendTime = time
        if flags & Flags.otherSendTime != 0 {
            guard let offset = body.signed(), let other = limits.sendTime(time.nanoseconds, offset: offset) else {
                return nil
            }
            sendTime = other
        }
        var probe: Int?
        if flags & Flags.probe != 0 {
            guard let id = body.signed().flatMap(Int32.init(exactly:)), id >= 0 else { return nil }
            probe = Int(id)
        }
        context.lastSequence += 1 + jump
        return SentPacket(
            transportSequence: context.lastSequence, size: size, sendTime: sendTime, probeClusterID: probe)
    }

    private mutating func report(_ body: inout ByteReader, time: MonotonicInstant) -> TransportFeedbackReport? {
        guard let feedbackTime = body.signed().flatMap({ limits.sendTime(time.nanoseconds, offset: $0) }),
            let inFlight = body.size(), let count = body.varint(), count <= UInt64(body.remaining)
        else { return nil }
        var results: [PacketResult] = []
        results.reserveCapacity(Int(count))
        for _ in 0..<count {
            guard let result = result(&body, time: time) else { return nil }
            results.append(result)
        }
        return TransportFeedbackReport(results: results, feedbackTime: feedbackTime, dataInFlight: inFlight)
    }

    private mutating func result(_ body: inout ByteReader, time: MonotonicInstant) -> PacketResult? {
        typealias Flags = FlightFormat.ResultFlags
        guard let flags = body.byte(), flags & ~Flags.all == 0,
            let ecn = ECNCodepoint(rawValue: (flags >> Flags.ecnShift) & 3)
        else { return nil }
        var sequence = context.resultSequence + 1
        if flags & Flags.otherSequence != 0 {
            guard let jump = body.signed() else { return nil }
            sequence = sequence &+ jump
        }
        // Results may refer only to packets that were sent.
        guard sequence >= 0, sequence <= context.lastSequence else { return nil }
        if flags & Flags.otherSize != 0 {
            guard let size = body.size() else { return nil }
            context.resultSize = Int64(size.bytes)
        }
        guard let step = body.signed(),
            let sendTime = limits.sendTime(context.resultSendTime, offset: step), sendTime <= time
        else { return nil }
        var probe: Int?
        if flags & Flags.probe != 0 {
            guard let id = body.signed().flatMap(Int32.init(exactly:)), id >= 0 else { return nil }
            probe = Int(id)
        }
        var receiveTime: MonotonicInstant?
        if flags & Flags.received != 0 {
            guard let step = body.signed() else { return nil }
            context.resultReceiveTime &+= step
            receiveTime = MonotonicInstant(nanoseconds: context.resultReceiveTime)
        }
        context.resultSequence = sequence
        context.resultSendTime = sendTime.nanoseconds
        return PacketResult(
            sent: SentPacket(
                transportSequence: sequence, size: DataSize(bytes: Int(context.resultSize)), sendTime: sendTime,
                probeClusterID: probe),
            receiveTime: receiveTime, wasReportedMissing: flags & Flags.wasReportedMissing != 0, ecn: ecn)
    }

    private mutating func decision(_ body: inout ByteReader, time: MonotonicInstant) -> ControlDecision? {
        typealias Flags = FlightFormat.DecisionFlags
        guard let flags = body.varint(), flags & ~Flags.all == 0, let target = body.signed(),
            let pacing = body.signed(), let wakeUp = body.signed()
        else { return nil }
        context.target &+= target
        context.pacing &+= pacing
        guard context.target >= 0, context.pacing >= 0 else { return nil }
        var decision = ControlDecision(
            targetBitRate: BitRate(bitsPerSecond: context.target),
            pacingRate: BitRate(bitsPerSecond: context.pacing),
            nextWakeUp: MonotonicInstant(nanoseconds: time.nanoseconds &+ wakeUp))
        if flags & Flags.sustained != 0 {
            guard let offset = body.signed() else { return nil }
            decision.sustainedBitRate = BitRate(bitsPerSecond: context.target &+ offset)
        }
        if flags & Flags.window != 0 {
            guard let step = body.signed() else { return nil }
            context.window &+= step
            decision.congestionWindow = DataSize(bytes: Int(context.window))
        }
        if flags & Flags.probes != 0 {
            guard let count = body.varint(), count > 0, count <= UInt64(body.remaining) else { return nil }
            for _ in 0..<count {
                guard let id = body.signed(), let rate = body.rate(), let packets = body.signed(),
                    let duration = body.duration()
                else { return nil }
                decision.newProbeClusters.append(
                    ProbeCluster(id: Int(id), rate: rate, minimumPackets: Int(packets), minimumDuration: duration))
            }
        }
        if flags & Flags.frameTimeout != 0 {
            guard let timeout = body.duration() else { return nil }
            decision.frameTimeout = timeout
        }
        if flags & Flags.feedbackInterval != 0 {
            guard body.duration() != nil else { return nil }
        }
        if flags & Flags.burst != 0 {
            guard let burst = body.duration() else { return nil }
            decision.pacingBurst = burst
        }
        if flags & Flags.padding != 0 {
            guard let rate = body.rate() else { return nil }
            decision.paddingRate = rate
        }
        if flags & Flags.frameDrop != 0 {
            guard body.signed() != nil else { return nil }
        }
        if flags & Flags.emptyPathProbe != 0 { decision.videoPause = .emptyPathProbe }
        if flags & Flags.slowPath != 0 { decision.videoPause = .slowPath }
        return decision
    }
}

/// The reason why bytes are not a recording, or not one that can be trusted.
public enum FlightDecodingError: Error, Hashable, Sendable {
    /// The file does not begin with the format's magic bytes.
    case notAFlight
    /// The file has another format version, from a newer program.
    case unknownVersion(UInt64)
    /// The header is not complete.
    case noHeader
    /// The record at this offset is invalid.
    case malformed(offset: Int, reason: String)
}

extension FlightDecodingError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notAFlight: "this is no flight recording; confrelay and confclient make them with --flight-recorder"
        case .unknownVersion(let version):
            "this is a recording of version \(version), and this program reads version \(FlightFormat.version): "
                + "use the program of the release that made it"
        case .noHeader: "the recording ends before its header does: nothing was recorded"
        case .malformed(let offset, let reason): "the recording is damaged at byte \(offset): \(reason)"
        }
    }
}
