import MediaCore

extension AudioEncoderSettings {
    /// The rates at which shared mixes are encoded.
    private static let sharedRates = [6, 8, 12, 16, 24, 32, 40, 48, 64, 96, 128, 192, 256, 510].map(BitRate.kilobits)
    /// The loss rates for which shared mixes carry in-band FEC.
    private static let sharedLosses = [0, 0.03, 0.08, 0.15, 0.25, 0.4, 1]
    /// A receiver moves to a higher rate only if its own rate exceeds that rate by this factor: each change costs a
    /// frame without prediction.
    private static let worthRising = 1.1

    /// The settings of a shared encoder that a receiver with these settings can use: the rate is no higher, the FEC no
    /// less.
    ///
    /// - Parameter present: The shared settings that the receiver has now. It keeps them while it can.
    func shared(present: AudioEncoderSettings?) -> AudioEncoderSettings {
        var result = self
        let step = Self.sharedRates.last { $0 <= bitRate } ?? Self.sharedRates[0]
        result.bitRate = step
        if let present, present.bitRate < step, bitRate < step * Self.worthRising {
            result.bitRate = max(present.bitRate, Self.sharedRates.last { $0 < step } ?? step)
        }
        result.expectedPacketLoss = Self.sharedLosses.first { $0 >= expectedPacketLoss } ?? 1
        if let present, present.expectedPacketLoss > result.expectedPacketLoss,
            expectedPacketLoss * Self.worthRising > result.expectedPacketLoss
        {
            result.expectedPacketLoss = min(
                present.expectedPacketLoss, Self.sharedLosses.first { $0 > result.expectedPacketLoss } ?? 1)
        }
        return result
    }
}
