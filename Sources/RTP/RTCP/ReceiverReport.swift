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
        var rest = reports[...]
        repeat {
            let part = rest.prefix(RTCPHeader.maximumCount)
            rest = rest.dropFirst(part.count)
            buffer.writeRTCP(type: RTCPType.receiverReport, countOrFormat: UInt8(truncatingIfNeeded: part.count)) {
                $0.writeInteger(ssrc)
                for report in part { report.encode(into: &$0) }
            }
        } while !rest.isEmpty
    }
}
