import NIOCore

/// The report of an endpoint that receives but sends nothing (RFC 3550 6.4.2).
public struct ReceiverReport: Hashable, Sendable {
    /// The endpoint that reports.
    public var ssrc: UInt32
    /// The report blocks. Those after the 31st are written as further receiver reports.
    public var reports: [ReportBlock]

    public init(ssrc: UInt32, reports: [ReportBlock] = []) {
        self.ssrc = ssrc
        self.reports = reports
    }

    /// Profile-specific extensions behind the report blocks are skipped.
    init(parsing body: ByteBuffer, reportCount: UInt8) throws(RTPError) {
        var body = body
        ssrc = try body.read(of: "receiver report")
        reports = try ReportBlock.readList(count: reportCount, from: &body)
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeRTCP(type: RTCPType.receiverReport, listing: reports) { buffer, part in
            buffer.writeInteger(ssrc)
            for report in part { report.encode(into: &buffer) }
        }
    }
}
