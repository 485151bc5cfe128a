import NIOCore

/// A receiver's report on one source (RFC 3550 6.4.1).
public struct ReportBlock: Hashable, Sendable {
    /// The source that is reported on.
    public var ssrc: UInt32
    /// The packets lost since the last report, in 1/256 of the expected ones.
    public var fractionLost: UInt8
    /// The packets lost since the start, less duplicates: 24 bits, signed; limited to that range when written.
    public var cumulativeLost: Int32
    /// The highest sequence number received, with the count of its cycles in the upper 16 bits.
    public var highestSequence: UInt32
    /// The interarrival jitter in units of the source's clock rate.
    public var jitter: UInt32
    /// The middle 32 bits of the last sender report's NTP time; zero when there was none.
    public var lastSenderReport: UInt32
    /// The time from receiving that report to sending this one, in 1/65536 s.
    public var delaySinceLastSenderReport: UInt32

    public static let cumulativeLostRange: ClosedRange<Int32> = -0x80_0000...0x7F_FFFF

    public init(
        ssrc: UInt32, fractionLost: UInt8 = 0, cumulativeLost: Int32 = 0, highestSequence: UInt32 = 0,
        jitter: UInt32 = 0, lastSenderReport: UInt32 = 0, delaySinceLastSenderReport: UInt32 = 0
    ) {
        self.ssrc = ssrc
        self.fractionLost = fractionLost
        self.cumulativeLost = cumulativeLost
        self.highestSequence = highestSequence
        self.jitter = jitter
        self.lastSenderReport = lastSenderReport
        self.delaySinceLastSenderReport = delaySinceLastSenderReport
    }

    init(reading buffer: inout ByteBuffer) throws(RTPError) {
        ssrc = try buffer.read(of: "report block")
        let loss = try buffer.read(UInt32.self, of: "report block")
        fractionLost = UInt8(truncatingIfNeeded: loss >> 24)
        cumulativeLost = Int32(bitPattern: loss << 8) >> 8
        highestSequence = try buffer.read(of: "report block")
        jitter = try buffer.read(of: "report block")
        lastSenderReport = try buffer.read(of: "report block")
        delaySinceLastSenderReport = try buffer.read(of: "report block")
    }

    static func readList(count: UInt8, from buffer: inout ByteBuffer) throws(RTPError) -> [ReportBlock] {
        var reports: [ReportBlock] = []
        reports.reserveCapacity(Int(count))
        for _ in 0..<count { reports.append(try ReportBlock(reading: &buffer)) }
        return reports
    }

    func encode(into buffer: inout ByteBuffer) {
        let range = Self.cumulativeLostRange
        let lost = UInt32(bitPattern: min(max(cumulativeLost, range.lowerBound), range.upperBound)) & 0xFF_FFFF
        buffer.writeMultipleIntegers(
            ssrc, UInt32(fractionLost) << 24 | lost, highestSequence, jitter, lastSenderReport,
            delaySinceLastSenderReport)
    }
}
