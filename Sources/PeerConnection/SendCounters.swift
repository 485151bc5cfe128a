extension SendController {
    /// Packets sent, and reports on them, since the connection began.
    struct Counters {
        var packets: UInt64 = 0
        var protectFailures: UInt64 = 0
        var retransmissions: UInt64 = 0
        var flexFECPackets: UInt64 = 0
        var nacks: UInt64 = 0
        var transportFeedback: UInt64 = 0
    }
}
