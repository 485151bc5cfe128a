/// The congestion marking of a packet's IP header (RFC 3168, section 5), with the meaning that RFC 9331 gives ECT(1).
public enum ECNCodepoint: UInt8, Hashable, Sendable {
    /// Not-ECT: the network drops packets that it would otherwise mark.
    case notCapable = 0
    /// ECT(1): the sender answers each mark as L4S asks.
    case capable1 = 1
    /// ECT(0): the sender answers a mark as it answers a loss.
    case capable0 = 2
    /// CE: a queue on the way was congested.
    case congestionExperienced = 3
}
