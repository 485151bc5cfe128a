import MediaCore
import RTP

/// Reacts to congestion marks of an AQM (RFC 3168).
///
/// Packets sent with ECT(1) are marked often. Each round trip the rate falls by a part that depends on the fraction of
/// marked packets, as with DCTCP (RFC 8257, 3.3) and as RFC 9331, 4.3 asks, and grows by a packet, so that the rate is
/// that of such a TCP. With ECT(0) a mark counts like a loss, but the rate falls less (RFC 8511). Without marks there
/// is no bound.
struct CongestionMarks: Sendable {
    /// The shortest round trip that is assumed, in seconds, so that flows of short ones leave room for others.
    private static let shortestRoundTrip = 0.025
    /// The size of the packet that is added each round trip, in bytes.
    private static let packetSize = 1200.0

    private let weight: Double
    private let classicBackoff: Double

    /// The bound by marks, in bytes per second; nil for none.
    private(set) var bound: Double?
    /// True if packets leave with ECT(1).
    private(set) var isScalable = false
    /// The fraction of marked packets, averaged over round trips. It begins with one, so that the first marks count
    /// fully.
    private(set) var average = 1.0

    private var roundStart: MonotonicInstant?
    private var packets = 0.0
    private var marked = 0.0

    init(parameters: ConfrelayParameters) {
        weight = min(parameters.markWeight, 1)
        classicBackoff = min(parameters.classicMarkBackoff, 1)
    }

    /// A packet arrived with this codepoint.
    mutating func received(_ ecn: ECNCodepoint) {
        switch ecn {
        case .notCapable: return
        case .capable0: isScalable = false
        case .capable1: isScalable = true
        case .congestionExperienced: marked += 1
        }
        packets += 1
    }

    /// Moves the bound once for each round trip.
    ///
    /// - Parameters:
    ///   - roundTrip: The round trip with the queue, in seconds.
    ///   - sending: The recent sending rate, in bytes per second: the bound starts here.
    ///   - capacity: The estimated capacity of the path; a bound that reaches it ends.
    mutating func update(roundTrip: Double, sending: Double, capacity: Double, now: MonotonicInstant) {
        guard packets > 0 else { return }
        let roundTrip = max(roundTrip, Self.shortestRoundTrip)
        let start = roundStart ?? now
        roundStart = start
        guard (now - start).seconds >= roundTrip else { return }
        let fraction = marked / packets
        if isScalable { average += weight * (fraction - average) }
        if marked > 0 {
            let factor = isScalable ? 1 - average / 2 : classicBackoff
            bound = (bound ?? sending) * factor
        }
        if let current = bound {
            let grown = current + Self.packetSize / roundTrip * (now - start).seconds / roundTrip * (1 - fraction)
            bound = grown < capacity || marked > 0 ? grown : nil
        }
        roundStart = now
        packets = 0
        marked = 0
    }
}
