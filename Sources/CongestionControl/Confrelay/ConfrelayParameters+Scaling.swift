import MediaCore

extension ConfrelayParameters {
    /// The names of the parameters that can be multiplied.
    public static let names = scalings.map(\.name)

    /// The factors by which parameters can be multiplied: with others the figures mean nothing, and times have no room
    /// for the product.
    public static let factors = 0.001...1000.0

    /// A reason why a parameter is not multiplied.
    public enum ScalingError: Error, Hashable, Sendable {
        /// There is no parameter of this name.
        case unknownName(String)
        /// A parameter is multiplied twice.
        case repeatedName(String)
        /// The factor is outside of `factors`.
        case factorOutOfRange(Double)
    }

    /// The standard parameters, some of them multiplied.
    public init(multiplying multiples: [(name: String, factor: Double)]) throws(ScalingError) {
        self.init()
        var names: Set<String> = []
        for (name, factor) in multiples {
            guard let scaling = Self.scalings.first(where: { $0.name == name }) else { throw .unknownName(name) }
            guard names.insert(name).inserted else { throw .repeatedName(name) }
            guard Self.factors.contains(factor) else { throw .factorOutOfRange(factor) }
            scaling.apply(&self, factor)
        }
    }

    private typealias Scaling = (name: String, apply: @Sendable (inout ConfrelayParameters, Double) -> Void)

    private static let scalings: [Scaling] = [
        ("utilization", { $0.utilization *= $1 }),
        ("caution", { $0.caution *= $1 }),
        ("drainTime", { $0.drainTime = $0.drainTime * $1 }),
        ("additiveRate", { $0.additiveRate = $0.additiveRate * $1 }),
        ("memory", { $0.memory = $0.memory * $1 }),
        ("jitterMemory", { $0.jitterMemory *= $1 }),
        ("startMemory", { $0.startMemory = $0.startMemory * $1 }),
        ("interruption", { $0.interruption = $0.interruption * $1 }),
        ("growth", { $0.growth *= $1 }),
        ("usedPart", { $0.usedPart *= $1 }),
        ("headroom", { $0.headroom *= $1 }),
        ("idleAllowance", { $0.idleAllowance *= $1 }),
        ("startProbe", { $0.startProbe *= $1 }),
        ("pacingFactor", { $0.pacingFactor *= $1 }),
        ("additivePacingRate", { $0.additivePacingRate = $0.additivePacingRate * $1 }),
        ("holdDelay", { $0.holdDelay = $0.holdDelay * $1 }),
        ("leastWindow", { $0.leastWindow = DataSize(bytes: Double($0.leastWindow.bytes) * $1) }),
        ("leastWindowTime", { $0.leastWindowTime = $0.leastWindowTime * $1 }),
        ("slowFrameTimeout", { $0.slowFrameTimeout = $0.slowFrameTimeout * $1 }),
        ("ownQueue", { $0.ownQueue = $0.ownQueue * $1 }),
        ("slowestPath", { $0.slowestPath = $0.slowestPath * $1 }),
        ("startQueue", { $0.startQueue = $0.startQueue * $1 }),
        ("startPatience", { $0.startPatience = $0.startPatience * $1 }),
        ("pausePart", { $0.pausePart *= $1 }),
        ("pausePatience", { $0.pausePatience = $0.pausePatience * $1 }),
        ("pauseInterval", { $0.pauseInterval = $0.pauseInterval * $1 }),
        ("pauseTrial", { $0.pauseTrial = $0.pauseTrial * $1 }),
        ("jitterStep", { $0.jitterStep = $0.jitterStep * $1 }),
        ("firstJitterStep", { $0.firstJitterStep = $0.firstJitterStep * $1 }),
        ("jitterAllowance", { $0.jitterAllowance *= $1 }),
        ("jitterMargin", { $0.jitterMargin *= $1 }),
        ("busyJitter", { $0.busyJitter *= $1 }),
        ("errorWeight", { $0.errorWeight *= $1 }),
        ("errorNoise", { $0.errorNoise *= $1 }),
        ("feedbackInterval", { $0.feedbackInterval = $0.feedbackInterval * $1 }),
        ("feedbackMargin", { $0.feedbackMargin = $0.feedbackMargin * $1 }),
        ("toleranceRemainder", { $0.toleranceRemainder *= $1 }),
        ("silence", { $0.silence = $0.silence * $1 }),
        ("keepAliveInterval", { $0.keepAliveInterval = $0.keepAliveInterval * $1 }),
        ("keepAlivePart", { $0.keepAlivePart *= $1 }),
        ("baseDelayWindow", { $0.baseDelayWindow = $0.baseDelayWindow * $1 }),
        ("baseDelayTolerance", { $0.baseDelayTolerance = $0.baseDelayTolerance * $1 }),
        ("baseDelayAge", { $0.baseDelayAge *= $1 }),
        ("probeLength", { $0.probeLength = $0.probeLength * $1 }),
        ("standingTime", { $0.standingTime = $0.standingTime * $1 }),
        ("standingDelay", { $0.standingDelay = $0.standingDelay * $1 }),
        ("routeVariation", { $0.routeVariation = $0.routeVariation * $1 }),
        ("calmTime", { $0.calmTime = $0.calmTime * $1 }),
        ("competitionBelief", { $0.competitionBelief = $0.competitionBelief * $1 }),
        ("competitionGrowth", { $0.competitionGrowth = $0.competitionGrowth * $1 }),
        ("competitionRelativeGrowth", { $0.competitionRelativeGrowth *= $1 }),
        ("competitionBackoff", { $0.competitionBackoff *= $1 }),
        ("competitionInterval", { $0.competitionInterval = $0.competitionInterval * $1 }),
        ("competitionSlack", { $0.competitionSlack = $0.competitionSlack * $1 }),
        ("lossInterval", { $0.lossInterval = $0.lossInterval * $1 }),
        ("policedLoss", { $0.policedLoss *= $1 }),
        ("overflowDelay", { $0.overflowDelay = $0.overflowDelay * $1 }),
        ("overflowRatio", { $0.overflowRatio *= $1 }),
        ("overflowBackoff", { $0.overflowBackoff *= $1 }),
        ("overflowRecovery", { $0.overflowRecovery *= $1 }),
        ("overflowUse", { $0.overflowUse *= $1 }),
        ("boundGrowth", { $0.boundGrowth *= $1 }),
        ("boundRecovery", { $0.boundRecovery *= $1 }),
        ("boundDelay", { $0.boundDelay = $0.boundDelay * $1 }),
        ("markWeight", { $0.markWeight *= $1 }),
        ("classicMarkBackoff", { $0.classicMarkBackoff *= $1 }),
    ]
}

extension ConfrelayParameters.ScalingError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unknownName(let name):
            "there is no constant '\(name)'; there are \(ConfrelayParameters.names.joined(separator: ", "))"
        case .repeatedName(let name): "the constant '\(name)' is multiplied twice; give it once"
        case .factorOutOfRange(let factor): "the factor \(factor) is not from 0.001 to 1000"
        }
    }
}
