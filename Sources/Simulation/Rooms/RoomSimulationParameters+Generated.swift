public import LinkEmulation
import MediaCore

extension RoomSimulationParameters {
    /// Returns receivers with a generated trace each: alternately a share of a line at home, from a half to a ninth,
    /// and a cellular or satellite link.
    public static func generatedReceivers(count: Int, duration: Duration, seed: UInt64) -> [Receiver] {
        let others: [TraceGenerator.Kind] = [.fiveG, .cellWalking, .cellDriving, .satellite]
        return (0..<max(0, count)).map { index in
            let isLine = index.isMultiple(of: 2)
            let kind = isLine ? .line : others[index / 2 % others.count]
            let sharers = isLine ? 2 + index / 2 % 8 : 1
            var generator = TraceGenerator(kind: kind, seed: seed &* 100 &+ UInt64(index))
            return Receiver(
                name: sharers > 1 ? "\(kind.rawValue)/\(sharers)" : kind.rawValue,
                downlink: LinkProfile(
                    rate: LinkRate.trace(generator.trace(duration: duration)).divided(by: sharers),
                    delay: .milliseconds(20)))
        }
    }
}
