public import MediaCore

/// How a receiver's mix is encoded.
public struct AudioEncoderSettings: Hashable, Sendable {
    /// The average rate of the Opus payload; held within Opus's 6 to 510 kbit/s.
    public var bitRate: BitRate
    /// libopus's complexity, 0 to 10: more costs more CPU and sounds better.
    public var complexity: Int
    /// The share of packets that the receiver reports lost, 0 to 1. Sets how much goes into in-band FEC.
    public var expectedPacketLoss: Double
    /// Whether packets carry a coarse copy of the frame before (RFC 6716, 2.1.7).
    public var usesInBandFEC: Bool
    /// Whether silence is sent as a packet now and then only.
    public var usesDTX: Bool

    public init(
        bitRate: BitRate = .kilobits(32), complexity: Int = 5, expectedPacketLoss: Double = 0,
        usesInBandFEC: Bool = true, usesDTX: Bool = false
    ) {
        self.bitRate = bitRate
        self.complexity = complexity
        self.expectedPacketLoss = expectedPacketLoss
        self.usesInBandFEC = usesInBandFEC
        self.usesDTX = usesDTX
    }
}
