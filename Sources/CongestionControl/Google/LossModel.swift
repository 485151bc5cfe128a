import Glibc

/// A model of a path's losses: an inherent part of all packets, and everything beyond its bandwidth
/// (`ChannelParameters` of libwebrtc's `LossBasedBweV2`).
struct LossModel: Hashable, Sendable {
    static let leastInherentLoss = 1e-3
    /// The bound of the inherent loss is this plus `balance` divided by the bandwidth in bit/s.
    static let inherentLossOffset = 0.05
    static let inherentLossBalance = 100_000.0
    /// The preference for a higher bandwidth, for each kbit/s and for each unit of its logarithm, below 20 % loss.
    static let preference = 0.0002
    static let logarithmicPreference = 0.02
    static let preferenceThreshold = 0.2
    static let preferenceSmoothing = 0.002
    static let newtonStep = 0.75
    static let probabilityRange = 1e-6...(1 - 1e-6)

    /// The part lost whatever is sent.
    var inherentLoss: Double
    /// The bandwidth in bit/s.
    var bandwidth: Double

    /// The most of the losses that the path itself may be blamed for.
    var inherentLossBound: Double {
        bandwidth > 0 ? min(Self.inherentLossOffset + Self.inherentLossBalance / bandwidth, 1) : 1
    }

    mutating func boundInherentLoss() {
        inherentLoss = min(max(inherentLoss, Self.leastInherentLoss), inherentLossBound)
    }

    /// The probability of losing a byte that is sent at a rate in bit/s.
    func lossProbability(at rate: Double) -> Double {
        var probability = min(max(inherentLoss, 0), 1)
        if rate > bandwidth { probability += (1 - probability) * (rate - bandwidth) / rate }
        return min(max(probability, Self.probabilityRange.lowerBound), Self.probabilityRange.upperBound)
    }

    /// One step of Newton's method towards the inherent loss that makes the observations most probable.
    mutating func improveInherentLoss(_ observations: LossObservations) {
        var first = 0.0
        var second = 0.0
        observations.visit { observation, weight in
            let loss = lossProbability(at: observation.sendingRate)
            let kept = 1 - loss
            first += weight * (observation.lostSize / loss - observation.receivedSize / kept)
            second -= weight * (observation.lostSize / (loss * loss) + observation.receivedSize / (kept * kept))
        }
        if second < 0 { inherentLoss -= Self.newtonStep * first / second }
        boundInherentLoss()
    }

    /// The logarithm of the observations' probability, plus the preference for a higher bandwidth.
    func objective(_ observations: LossObservations) -> Double {
        let kilobits = bandwidth / 1000
        let willingness = Self.preferenceThreshold - observations.averageLoss
        let bias =
            willingness / (Self.preferenceSmoothing + willingness.magnitude)
            * (Self.preference * kilobits + Self.logarithmicPreference * log1p(kilobits))
        var objective = 0.0
        observations.visit { observation, weight in
            let loss = lossProbability(at: observation.sendingRate)
            objective +=
                weight
                * (observation.lostSize * log(loss) + observation.receivedSize * log(1 - loss)
                    + bias * observation.size)
        }
        return objective
    }
}
