public import MediaCore

/// The settings of a receiver's encoder.
public struct AudioEncoderSettings: Hashable, Sendable {
    /// The average rate of the Opus payload, limited to Opus's range of 6 to 510 kbit/s.
    public var bitRate: BitRate
    /// libopus's complexity, 0 to 10: a higher value costs more processor time and sounds better.
    public var complexity: Int
    /// The share of packets that the receiver reports lost, 0 to 1. It sets the amount of in-band FEC.
    public var expectedPacketLoss: Double
    /// True if packets carry a coarse copy of the frame before (RFC 6716, 2.1.7).
    public var usesInBandFEC: Bool
    /// True if most packets of silence have at most two bytes, and need not be sent (discontinuous transmission).
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
