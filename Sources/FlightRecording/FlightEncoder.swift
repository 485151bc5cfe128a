import CongestionControl
public import MediaCore
import RTP

/// Encodes a recording, record by record. It allocates nothing for a record that is no larger than earlier ones.
public struct FlightEncoder: Sendable {
    /// The bytes of the most recent record or header.
    public private(set) var bytes: [UInt8] = []
    private var body: [UInt8] = []
    private var context: FlightContext

    /// Encodes the beginning of a file into `bytes`.
    ///
    /// - Parameter capacity: The reserved size in bytes; records up to this size need no allocation.
    public init(header: FlightHeader, capacity: Int = 16_384) {
        context = FlightContext(start: header.start.nanoseconds)
        bytes.reserveCapacity(capacity)
        body.reserveCapacity(capacity)
        body.append(text: header.program)
        body.append(text: header.controller)
        for rate in [header.limits.minimum, header.limits.start, header.limits.maximum] {
            body.append(varint: UInt64(bitPattern: rate.bitsPerSecond))
        }
        body.append(varint: UInt64(bitPattern: header.start.nanoseconds))
        body.append(signed: header.wallClockMilliseconds)
        body.append(signed: Int64(header.packetOverhead.bytes))
        for text in [header.room, header.participant, header.participantID] { body.append(text: text) }
        let scaling = header.scaling.prefix(FlightFormat.maximumScalings)
        body.append(varint: UInt64(scaling.count))
        for constant in scaling {
            body.append(text: constant.name)
            body.append(double: constant.factor)
        }
        bytes += FlightFormat.magic
        bytes.append(varint: FlightFormat.version)
        bytes.append(varint: UInt64(body.count))
        bytes += body
    }

    /// Encodes a record into `bytes`.
    public mutating func encode(_ event: FlightEvent, time: MonotonicInstant) {
        body.removeAll(keepingCapacity: true)
        switch event {
        case .packetSent(let packet):
            begin(.packetSent, time)
            encode(packet, time: time)
        case .feedbackReceived(let report):
            begin(.feedbackReceived, time)
            encode(report, time: time)
        case .remoteEstimateReceived(let rate):
            begin(.remoteEstimateReceived, time)
            append(rate)
        case .receiverReportReceived(let fractionLost, let roundTripTime):
            begin(.receiverReportReceived, time)
            body.append(double: fractionLost)
            body.append(roundTripTime == nil ? 0 : 1)
            if let roundTripTime { body.append(duration: roundTripTime) }
        case .demandChanged(let rate):
            begin(.demandChanged, time)
            append(rate)
        case .limitsChanged(let limits):
            begin(.limitsChanged, time)
            append(limits.minimum)
            append(limits.start)
            append(limits.maximum)
        case .senderQueueChanged(let size):
            begin(.senderQueueChanged, time)
            body.append(signed: Int64(size.bytes))
        case .frameDelayChanged(let delay):
            begin(.frameDelayChanged, time)
            body.append(duration: delay)
        case .decided(let decision):
            begin(.decided, time)
            encode(decision, time: time)
        }
        finishRecord()
    }

    /// Encodes the last record into `bytes`. A recording that was cut off has no such record.
    public mutating func encodeEnd(_ ending: FlightEnding) {
        bytes = Self.endRecord(ending)
    }

    /// Returns the last record, which does not depend on earlier ones.
    public static func endRecord(_ ending: FlightEnding) -> [UInt8] {
        var lost: UInt64 = 0
        let reason: FlightFormat.EndReason
        switch ending {
        case .closed: reason = .closed
        case .limitReached: reason = .limitReached
        case .overrun(let lostRecords):
            reason = .overrun
            lost = UInt64(clamping: lostRecords)
        case .truncated: return []
        }
        var record = [FlightFormat.Kind.end.rawValue, reason.rawValue]
        record.append(varint: lost)
        return [UInt8(record.count)] + record
    }

    private mutating func begin(_ kind: FlightFormat.Kind, _ time: MonotonicInstant) {
        body.append(kind.rawValue)
        body.append(signed: time.nanoseconds &- context.time)
        context.time = time.nanoseconds
    }

    private mutating func finishRecord() {
        bytes.removeAll(keepingCapacity: true)
        bytes.append(varint: UInt64(body.count))
        bytes.append(contentsOf: body)
    }

    private mutating func append(_ rate: BitRate) {
        body.append(varint: UInt64(bitPattern: rate.bitsPerSecond))
    }

    private mutating func encode(_ packet: SentPacket, time: MonotonicInstant) {
        typealias Flags = FlightFormat.PacketFlags
        let jump = packet.transportSequence &- (context.lastSequence &+ 1)
        let sendTime = packet.sendTime.nanoseconds &- time.nanoseconds
        body.append(
            (jump != 0 ? Flags.otherSequence : 0) | (sendTime != 0 ? Flags.otherSendTime : 0)
                | (packet.probeClusterID != nil ? Flags.probe : 0))
        if jump != 0 { body.append(signed: jump) }
        body.append(signed: Int64(packet.size.bytes))
        if sendTime != 0 { body.append(signed: sendTime) }
        if let id = packet.probeClusterID { body.append(signed: Int64(id)) }
        context.lastSequence = packet.transportSequence
    }

    private mutating func encode(_ report: TransportFeedbackReport, time: MonotonicInstant) {
        body.append(signed: report.feedbackTime.nanoseconds &- time.nanoseconds)
        body.append(signed: Int64(report.dataInFlight.bytes))
        body.append(varint: UInt64(report.results.count))
        // This loop uses an index: without optimization, an iterator allocates for each element.
        for index in 0..<report.results.count { encode(report.results[index]) }
    }

    private mutating func encode(_ result: PacketResult) {
        typealias Flags = FlightFormat.ResultFlags
        let sent = result.sent
        let jump = sent.transportSequence &- (context.resultSequence &+ 1)
        let size = Int64(sent.size.bytes)
        var flags = result.ecn.rawValue << Flags.ecnShift
        if result.receiveTime != nil { flags |= Flags.received }
        if result.wasReportedMissing { flags |= Flags.wasReportedMissing }
        if jump != 0 { flags |= Flags.otherSequence }
        if sent.probeClusterID != nil { flags |= Flags.probe }
        if size != context.resultSize { flags |= Flags.otherSize }
        body.append(flags)
        if jump != 0 { body.append(signed: jump) }
        if size != context.resultSize { body.append(signed: size) }
        body.append(signed: sent.sendTime.nanoseconds &- context.resultSendTime)
        if let id = sent.probeClusterID { body.append(signed: Int64(id)) }
        if let receiveTime = result.receiveTime {
            body.append(signed: receiveTime.nanoseconds &- context.resultReceiveTime)
            context.resultReceiveTime = receiveTime.nanoseconds
        }
        context.resultSequence = sent.transportSequence
        context.resultSize = size
        context.resultSendTime = sent.sendTime.nanoseconds
    }

    private mutating func encode(_ decision: ControlDecision, time: MonotonicInstant) {
        typealias Flags = FlightFormat.DecisionFlags
        var flags: UInt64 = 0
        if decision.sustainedBitRate != nil { flags |= Flags.sustained }
        if decision.congestionWindow != nil { flags |= Flags.window }
        if !decision.newProbeClusters.isEmpty { flags |= Flags.probes }
        if decision.frameTimeout != nil { flags |= Flags.frameTimeout }
        if decision.pacingBurst != nil { flags |= Flags.burst }
        if decision.paddingRate > .zero { flags |= Flags.padding }
        switch decision.videoPause {
        case .emptyPathProbe: flags |= Flags.emptyPathProbe
        case .slowPath: flags |= Flags.slowPath
        case nil: break
        }
        let target = decision.targetBitRate.bitsPerSecond
        let pacing = decision.pacingRate.bitsPerSecond
        body.append(varint: flags)
        body.append(signed: target &- context.target)
        body.append(signed: pacing &- context.pacing)
        body.append(signed: decision.nextWakeUp.nanoseconds &- time.nanoseconds)
        if let sustained = decision.sustainedBitRate { body.append(signed: sustained.bitsPerSecond &- target) }
        if let window = decision.congestionWindow {
            body.append(signed: Int64(window.bytes) &- context.window)
            context.window = Int64(window.bytes)
        }
        if !decision.newProbeClusters.isEmpty {
            body.append(varint: UInt64(decision.newProbeClusters.count))
            for index in 0..<decision.newProbeClusters.count {
                let cluster = decision.newProbeClusters[index]
                body.append(signed: Int64(cluster.id))
                append(cluster.rate)
                body.append(signed: Int64(cluster.minimumPackets))
                body.append(duration: cluster.minimumDuration)
            }
        }
        if let timeout = decision.frameTimeout { body.append(duration: timeout) }
        if let burst = decision.pacingBurst { body.append(duration: burst) }
        if decision.paddingRate > .zero { append(decision.paddingRate) }
        context.target = target
        context.pacing = pacing
    }
}
