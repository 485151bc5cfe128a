import MediaCore
public import NetworkSimulation

extension RoomSimulationParameters {
    /// Receivers on networks that look like those of all kinds there are, each with a trace of its own: from the whole of
    /// what such a network carries to a sixth of it, at round trips from 20 to 100 ms.
    public static func generatedReceivers(count: Int, duration: Duration, seed: UInt64) -> [Receiver] {
        let kinds = TraceGenerator.Kind.allCases
        return (0..<max(0, count)).map { index in
            let kind = kinds[index % kinds.count]
            let sharers = 1 + index / 3 % 6
            var generator = TraceGenerator(kind: kind, seed: seed &* 100 &+ UInt64(index))
            return Receiver(
                name: sharers > 1 ? "\(kind.rawValue)/\(sharers)" : kind.rawValue,
                downlink: LinkProfile(
                    rate: LinkRate.trace(generator.trace(duration: duration)).divided(by: sharers),
                    delay: .milliseconds(Int64(10 + index % 5 * 10)), queue: .duration(.milliseconds(800))))
        }
    }
}
