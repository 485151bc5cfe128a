import NIOCore

/// A sender's report on its stream, with its reports on received streams (RFC 3550 6.4.1).
public struct SenderReport: Hashable, Sendable {
    public var ssrc: UInt32
    /// The time of sending, on the sender's wall clock.
    public var ntpTime: NTPTime
    /// The same instant on the stream's RTP clock: together they tie streams of one sender to each other.
    public var rtpTimestamp: UInt32
    /// Packets sent since the start, modulo 2³².
    public var packetCount: UInt32
    /// The payload bytes sent since the start, modulo 2³².
    public var octetCount: UInt32
    /// The report blocks. Those after the 31st are written as receiver reports after this packet.
    public var reports: [ReportBlock]

    public init(
        ssrc: UInt32, ntpTime: NTPTime, rtpTimestamp: UInt32, packetCount: UInt32, octetCount: UInt32,
        reports: [ReportBlock] = []
    ) {
        self.ssrc = ssrc
        self.ntpTime = ntpTime
        self.rtpTimestamp = rtpTimestamp
        self.packetCount = packetCount
        self.octetCount = octetCount
        self.reports = reports
    }

    /// Profile-specific extensions behind the report blocks are skipped.
    init(parsing body: ByteBuffer, reportCount: UInt8) throws(RTPError) {
        var body = body
        ssrc = try body.read(of: "sender report")
        ntpTime = NTPTime(rawValue: try body.read(of: "sender report"))
        rtpTimestamp = try body.read(of: "sender report")
        packetCount = try body.read(of: "sender report")
        octetCount = try body.read(of: "sender report")
        reports = try ReportBlock.readList(count: reportCount, from: &body)
    }

    func encode(into buffer: inout ByteBuffer) {
        let first = reports.prefix(RTCPHeader.maximumCount)
        buffer.writeRTCP(type: RTCPType.senderReport, countOrFormat: UInt8(truncatingIfNeeded: first.count)) {
            $0.writeMultipleIntegers(ssrc, ntpTime.rawValue, rtpTimestamp, packetCount, octetCount)
            for report in first { report.encode(into: &$0) }
        }
        guard reports.count > first.count else { return }
        ReceiverReport(ssrc: ssrc, reports: Array(reports.dropFirst(first.count))).encode(into: &buffer)
    }
}
