/// `packetization-mode`: which RTP payload structures a receiver takes (RFC 6184 5.4, 6).
public enum PacketizationMode: UInt8, Hashable, Sendable {
    /// A packet is one NAL unit.
    case singleNALUnit = 0
    /// Also aggregation (STAP-A) and fragmentation (FU-A), in decoding order.
    case nonInterleaved = 1
}
