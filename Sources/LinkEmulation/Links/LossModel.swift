internal import MediaCore

/// The random losses of a link.
public enum LossModel: Hashable, Sendable {
    /// Independent losses with the same probability for each packet.
    case bernoulli(Double)
    /// Losses in bursts (Gilbert 1960, Elliott 1963; the parameters are named as in RFC 6534).
    case gilbertElliott(GilbertElliott)

    public static let none = LossModel.bernoulli(0)

    /// A channel of two states, each with its own loss.
    public struct GilbertElliott: Hashable, Sendable {
        /// The probability of a change from the good state to the bad one, per packet.
        public var toBad: Double
        /// The probability of a change from the bad state to the good one, per packet; its inverse is the mean length
        /// of a burst.
        public var toGood: Double
        public var lossInGood: Double
        public var lossInBad: Double

        public init(toBad: Double, toGood: Double, lossInGood: Double = 0, lossInBad: Double = 1) {
            self.toBad = toBad
            self.toGood = toGood
            self.lossInGood = lossInGood
            self.lossInBad = lossInBad
        }

        /// Creates a channel that loses `loss` of all packets, in bursts of `burstLength` packets on average. Between
        /// two bursts a packet passes at least, so that so many losses may need longer bursts.
        public init(loss: Double, burstLength: Double) {
            let loss = min(max(loss, 0), 1)
            let toGood = loss > 0 ? min(1 / max(burstLength, 1), (1 - loss) / loss) : 1 / max(burstLength, 1)
            self.init(toBad: loss < 1 ? min(toGood * loss / (1 - loss), 1) : 1, toGood: toGood)
        }
    }
}

extension LossModel: ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral {
    public init(floatLiteral value: Double) { self = .bernoulli(value) }
    public init(integerLiteral value: Int) { self = .bernoulli(Double(value)) }
}

/// Decides for each packet whether it is lost.
struct LossProcess: Sendable {
    private var isBad = false

    mutating func loses(_ model: LossModel, using generator: inout SeededGenerator) -> Bool {
        switch model {
        case .bernoulli(let probability):
            return probability > 0 && Double.random(in: 0..<1, using: &generator) < probability
        case .gilbertElliott(let model):
            let change = isBad ? model.toGood : model.toBad
            if Double.random(in: 0..<1, using: &generator) < change { isBad.toggle() }
            let loss = isBad ? model.lossInBad : model.lossInGood
            guard loss < 1 else { return true }
            return loss > 0 && Double.random(in: 0..<1, using: &generator) < loss
        }
    }
}
