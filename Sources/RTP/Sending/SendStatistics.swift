public import MediaCore

/// A sender's statistics of one stream, with those that its receiver reports (RFC 3550 6.4).
public struct SendStatistics: Sendable {
    /// Answers that took longer are not believed.
    private static let longestRoundTrip: Int64 = 30_000_000_000

    public private(set) var packetCount: Int64 = 0
    /// The number of payload bytes sent, without headers and padding.
    public private(set) var octetCount: Int64 = 0
    /// The last round-trip time measured; nil before the first report that answers one of ours.
    public private(set) var roundTripTime: Duration?
    /// The round-trip time, smoothed over about eight reports.
    public private(set) var smoothedRoundTripTime: Duration?
    /// The loss of the last report: 0 to 1.
    public private(set) var fractionLost = 0.0
    /// The last report's count of lost packets.
    public private(set) var cumulativeLost: Int32 = 0
    /// The last report's interarrival jitter, in units of the clock rate.
    public private(set) var remoteJitter: UInt32 = 0

    private let clockRate: Int64
    private var lastPacket: (timestamp: UInt32, captureTime: MonotonicInstant)?

    /// Creates statistics for a stream whose timestamps count `clockRate` a second; at least one.
    public init(clockRate: Int32) {
        self.clockRate = max(Int64(clockRate), 1)
    }

    /// Counts a packet. `captureTime` is the instant of its timestamp.
    public mutating func packetSent(timestamp: UInt32, payloadSize: DataSize, captureTime: MonotonicInstant) {
        packetCount += 1
        octetCount += Int64(payloadSize.bytes)
        lastPacket = (timestamp, captureTime)
    }

    /// The report to send now; nil before the first packet, which gives the media clock its origin.
    public func makeSenderReport(
        ssrc: UInt32, reports: [ReportBlock] = [], wallClock: WallClock, now: MonotonicInstant
    ) -> SenderReport? {
        guard let lastPacket else { return nil }
        let elapsed = MediaTime(now - lastPacket.captureTime, timescale: Int32(clamping: clockRate))
        return SenderReport(
            ssrc: ssrc, ntpTime: wallClock.ntpTime(at: now),
            rtpTimestamp: lastPacket.timestamp &+ UInt32(truncatingIfNeeded: elapsed.value),
            packetCount: UInt32(truncatingIfNeeded: packetCount), octetCount: UInt32(truncatingIfNeeded: octetCount),
            reports: reports)
    }

    /// Takes a report of the receiver; `ntpNow` is the wall clock of our sender reports.
    public mutating func reportReceived(_ report: ReportBlock, ntpNow: NTPTime) {
        fractionLost = Double(report.fractionLost) / 256
        cumulativeLost = report.cumulativeLost
        remoteJitter = report.jitter
        guard report.lastSenderReport != 0 else { return }
        let units = ntpNow.middle32 &- report.lastSenderReport &- report.delaySinceLastSenderReport
        // Both ends round: an answer within a millisecond may seem to come before the question.
        let nanoseconds = (Int64(Int32(bitPattern: units)) * 1_000_000_000) >> 16
        guard (-1_000_000...Self.longestRoundTrip).contains(nanoseconds) else { return }
        let measured = max(nanoseconds, 1_000_000_000 >> 16)
        let smoothed = smoothedRoundTripTime?.nanoseconds ?? measured
        roundTripTime = .nanoseconds(measured)
        smoothedRoundTripTime = .nanoseconds(smoothed + (measured - smoothed) / 8)
    }
}
