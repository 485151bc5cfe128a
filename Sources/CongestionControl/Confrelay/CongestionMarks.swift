import MediaCore
import RTP

/// Answers what an AQM marks instead of dropping it (RFC 3168), as the marks mean it.
///
/// Packets sent with ECT(1) are marked often, and a little is given up for each round trip by the part of them that was
/// marked, as DCTCP does (RFC 8257, 3.3) and RFC 9331, 4.3 asks; a packet is added each round trip meanwhile, which
/// makes the rate that of such a TCP. With ECT(0) a mark counts as much as a loss does to TCP, but less is given up
/// (RFC 8511). Without marks there is no bound.
struct CongestionMarks: Sendable {
    /// What a round trip is taken for at least, so that flows of short ones leave room for others.
    private static let shortestRoundTrip = 0.025
    /// One packet is added each round trip, in bytes.
    private static let packetSize = 1200.0

    private let weight: Double
    private let classicBackoff: Double

    /// The bound by marks, in bytes per second; nil for none.
    private(set) var bound: Double?
    /// Whether packets leave with ECT(1).
    private(set) var isScalable = false
    /// The part of packets marked, averaged over round trips. It begins with one: the first marks count fully.
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
    ///   - roundTrip: with the queue, in seconds.
    ///   - sending: what was sent lately, in bytes per second: where the bound begins.
    ///   - capacity: what the path is thought to carry; a bound that reaches it is none.
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
