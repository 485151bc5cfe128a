public import MediaCore

/// A receiver's statistics of one source, for its reports (RFC 3550 A.1, A.3 and A.8).
public struct ReceptionStatistics: Sendable {
    /// A step ahead of more than this is a restart once the next packet confirms it (RFC 3550 A.1).
    private static let maximumDropout: UInt16 = 3000
    /// A step back of more than this is a restart, too. It is larger than the RFC's 100, because retransmissions come
    /// late.
    private static let maximumMisorder: UInt16 = 3000
    /// Transit times that differ by more than this many seconds come from a clock that was set, not from the network.
    private static let maximumTransitChange: Int64 = 5

    private let clockRate: Int64
    public private(set) var packetsReceived: Int64 = 0
    /// The size of all received packets, with their headers.
    public private(set) var dataReceived = DataSize.zero
    /// The number of restarts of the sender at another sequence number.
    public private(set) var restartCount: Int64 = 0
    /// The times of the last sender report and of its arrival. Nothing here has references, so a copy costs little.
    private var lastSenderReport: (ntpTime: NTPTime, rtpTimestamp: UInt32, arrival: MonotonicInstant)?

    private var unwrapper = SequenceUnwrapper()
    private var base: Int64 = 0
    private var highest: Int64?
    /// The packets received since the sender started, duplicates included.
    private var receivedSinceBase: Int64 = 0
    /// The next sequence number after a possible restart.
    private var restartSequence: UInt16?
    private var expectedAtLastReport: Int64 = 0
    private var receivedAtLastReport: Int64 = 0

    /// Arrival less timestamp, in units of the clock rate, modulo 2³².
    private var lastTransit: UInt32?
    /// The jitter in 1/16 of a unit of the clock rate.
    private var scaledJitter: Int64 = 0

    /// Creates statistics for a source whose timestamps count `clockRate` a second; at least one.
    public init(clockRate: Int32) {
        self.clockRate = max(Int64(clockRate), 1)
    }

    /// Counts a packet. `size` is the packet's with its header.
    public mutating func received(sequenceNumber: UInt16, timestamp: UInt32, size: DataSize, now: MonotonicInstant) {
        packetsReceived += 1
        dataReceived += size
        guard updateSequence(sequenceNumber) else { return }
        receivedSinceBase += 1
        updateJitter(timestamp: timestamp, now: now)
    }

    /// Remembers a sender report, for the round-trip time that its sender computes and for `ntpTime(atTimestamp:)`.
    public mutating func senderReportReceived(_ report: SenderReport, now: MonotonicInstant) {
        lastSenderReport = (report.ntpTime, report.rtpTimestamp, now)
    }

    /// The packets lost since the sender started, less duplicates: negative if more came than were expected.
    public var cumulativeLost: Int64 { expected - receivedSinceBase }

    /// The mean deviation of the spacing of packets at the receiver from their spacing at the sender.
    public var jitter: Duration { .seconds(clamping: Double(scaledJitter) / 16 / Double(clockRate)) }

    /// The sender's wall-clock time at which its media clock showed `timestamp`; nil before the first sender report,
    /// and if the sender has no wall clock, which its reports say by the time zero (RFC 3550 6.4.1).
    public func ntpTime(atTimestamp timestamp: UInt32) -> NTPTime? {
        guard let report = lastSenderReport, report.ntpTime.rawValue != 0 else { return nil }
        let difference = Int64(Int32(bitPattern: timestamp &- report.rtpTimestamp))
        return report.ntpTime + .nanoseconds(difference * 1_000_000_000 / clockRate)
    }

    /// The report about the source; its fraction lost counts from the last call.
    public mutating func makeReportBlock(ssrc: UInt32, now: MonotonicInstant) -> ReportBlock {
        let expectedInterval = expected - expectedAtLastReport
        let lostInterval = expectedInterval - (receivedSinceBase - receivedAtLastReport)
        expectedAtLastReport = expected
        receivedAtLastReport = receivedSinceBase
        var fractionLost: Int64 = 0
        if expectedInterval > 0, lostInterval > 0 { fractionLost = lostInterval * 256 / expectedInterval }

        var block = ReportBlock(ssrc: ssrc)
        block.fractionLost = UInt8(clamping: fractionLost)
        let lostRange = ReportBlock.cumulativeLostRange
        block.cumulativeLost = min(max(Int32(clamping: cumulativeLost), lostRange.lowerBound), lostRange.upperBound)
        block.highestSequence = UInt32(truncatingIfNeeded: highest ?? 0)
        block.jitter = UInt32(clamping: scaledJitter >> 4)
        if let lastSenderReport {
            block.lastSenderReport = lastSenderReport.ntpTime.middle32
            let delay = Int128(max((now - lastSenderReport.arrival).nanoseconds, 0))
            block.delaySinceLastSenderReport = UInt32(clamping: (delay << 16) / 1_000_000_000)
        }
        return block
    }

    private var expected: Int64 {
        guard let highest else { return 0 }
        return highest - base + 1
    }

    /// Follows the sequence (A.1); false for a packet that may be the first of a restart, or a stray one.
    private mutating func updateSequence(_ sequenceNumber: UInt16) -> Bool {
        guard let highest else {
            start(at: sequenceNumber)
            return true
        }
        let ahead = sequenceNumber &- UInt16(truncatingIfNeeded: highest)
        if ahead < Self.maximumDropout {
            let sequence = unwrapper.unwrap(sequenceNumber)
            self.highest = max(highest, sequence)
        } else if ahead <= UInt16.max - Self.maximumMisorder {
            guard sequenceNumber == restartSequence else {
                restartSequence = sequenceNumber &+ 1
                return false
            }
            restartCount += 1
            start(at: sequenceNumber)
            return true
        }
        restartSequence = nil
        return true
    }

    private mutating func start(at sequenceNumber: UInt16) {
        unwrapper = SequenceUnwrapper()
        base = unwrapper.unwrap(sequenceNumber)
        highest = base
        receivedSinceBase = 0
        expectedAtLastReport = 0
        receivedAtLastReport = 0
        restartSequence = nil
        lastTransit = nil
    }

    /// Follows the jitter (A.8).
    private mutating func updateJitter(timestamp: UInt32, now: MonotonicInstant) {
        let (seconds, fraction) = now.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let arrival = (seconds &* clockRate) &+ fraction * clockRate / 1_000_000_000
        let transit = UInt32(truncatingIfNeeded: arrival) &- timestamp
        defer { lastTransit = transit }
        guard let lastTransit else { return }
        let change = abs(Int64(Int32(bitPattern: transit &- lastTransit)))
        guard change <= Self.maximumTransitChange * clockRate else { return }
        scaledJitter += change - ((scaledJitter + 8) >> 4)
    }
}
