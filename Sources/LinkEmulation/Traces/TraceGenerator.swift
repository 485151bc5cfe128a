import MediaCore

/// Generates traces that resemble a kind of access network, from a seed.
///
/// A generator is a chain of states (good, fair, poor, none), each with a mean rate and a mean duration. Within a
/// state, the logarithm of the rate follows a first-order autoregressive process around the state's mean, in steps of
/// 20 ms. Each kind adds its own effects: the scheduling grid of a cell, the bursts and silences of Wi-Fi, the
/// handovers of a satellite, the tunnels of a railway.
public struct TraceGenerator: Sendable {
    public enum Kind: String, CaseIterable, Sendable {
        /// A phone on LTE in a moving car: fast fading, and short times without service.
        case lte
        /// A phone on 5G between cells of high and low bands: a share that is often above 8 Mbit/s, with deep falls at
        /// band changes.
        case fiveG = "5g"
        /// A laptop on a busy Wi-Fi: collisions and rate adaptation, bursts between short silences.
        case wifi
        /// A phone on UMTS (HSPA): slow, with long fades.
        case umts
        /// A satellite link with a handover each 15 s: a short silence, then another rate.
        case satellite
        /// LTE on a train: fast changes from cell to cell, and tunnels without any service.
        case train
        /// A share of a 10 MHz cell at walking or at driving speed, as in the cellular cases of RFC 8869: the faster
        /// the phone, the faster its channel fades.
        case cellWalking = "cell-3kmh"
        case cellDriving = "cell-30kmh"
        /// A line at home whose other users download something now and then.
        case line
        /// An LTE uplink whose rate changes by its own size within two frames, and that delivers nothing for a tenth of
        /// the time, in outages of seconds.
        case fading
    }

    private struct State {
        /// The mean rate, in Mbit/s; zero for no service.
        var rate: Double
        /// The mean duration of the state, in seconds.
        var stay: Double
        /// The relative probability of each state to be the next one.
        var next: [Double]
    }

    private struct Model {
        var states: [State]
        /// The standard deviation of the rate's logarithm within a state; `memory` is the process's time constant in
        /// seconds.
        var deviation: Double
        var memory: Double
        /// The interval in milliseconds between bursts of opportunities.
        var grid: Int64
    }

    private static let step = 0.02

    private let kind: Kind
    private let model: Model
    private var generator: SeededGenerator

    public init(kind: Kind, seed: UInt64) {
        self.kind = kind
        model = Self.model(of: kind)
        generator = SeededGenerator(seed: seed)
    }

    /// Generates a trace of this duration, at least a second. The last line is at its end.
    public mutating func trace(duration: Duration) -> DeliveryTrace {
        let steps = max(Int(clamping: duration.seconds / Self.step), 50)
        var times: [Int64] = []
        var credit = 0.0
        var state = 0
        var left = stay(in: 0)
        var deviate = generator.nextNormal(cutAt: 3)
        let keep = 1 - min(Self.step / model.memory, 1)
        let renewal = (1 - keep * keep).squareRoot()
        var silence = 0.0
        for index in 0..<steps {
            let begin = Double(index) * Self.step
            left -= Self.step
            if left <= 0 {
                state = next(after: state)
                left = stay(in: state)
            }
            deviate = deviate * keep + generator.nextNormal(cutAt: 3) * renewal
            var rate = model.states[state].rate * Self.exponential(model.deviation * deviate)
            rate *= factor(at: begin, silence: &silence)
            credit += rate * 1e6 / 8 / Double(DeliveryTrace.opportunitySize.bytes) * Self.step
            let count = Int(clamping: credit)
            credit -= Double(count)
            for place in 0..<count {
                let time = (begin + Self.step * (Double(place) + 0.5) / Double(count)) * 1000
                times.append(Int64(clamping: time) / model.grid * model.grid + 1)
            }
        }
        // The last line is the period, even if the link is silent at the end.
        times.append(Int64(clamping: Double(steps) * Self.step * 1000))
        return DeliveryTrace(milliseconds: times) ?? Self.fallback
    }

    private static let fallback = DeliveryTrace(oneOpportunityEach: 1000)

    private mutating func stay(in state: Int) -> Double {
        generator.nextExponential(mean: .seconds(clamping: model.states[state].stay)).seconds
    }

    private mutating func next(after state: Int) -> Int {
        let chances = model.states[state].next
        var draw = Double.random(in: 0..<1, using: &generator) * chances.reduce(0, +)
        for (index, chance) in chances.enumerated() {
            draw -= chance
            if draw < 0 { return index }
        }
        return state
    }

    /// Returns the factor that the kind applies to the rate, in addition to its states.
    private mutating func factor(at time: Double, silence: inout Double) -> Double {
        switch kind {
        case .wifi:
            // Another station has the channel for a moment.
            if silence > 0 {
                silence -= Self.step
                return 0.05
            }
            if Double.random(in: 0..<1, using: &generator) < 0.06 {
                silence = generator.nextExponential(mean: .milliseconds(60)).seconds
            }
            return 1
        case .satellite:
            let sinceHandover = time.truncatingRemainder(dividingBy: 15)
            if sinceHandover < Self.step { silence = Double.random(in: 0.05..<0.35, using: &generator) }
            if silence > 0 {
                silence -= Self.step
                return 0
            }
            return 1
        case .lte, .fiveG, .umts, .train, .cellWalking, .cellDriving, .line, .fading: return 1
        }
    }

    /// Computes e to a power between -6 and 6 with a series: the same bits on every machine.
    private static func exponential(_ power: Double) -> Double {
        let part = min(max(power, -6), 6) / 16
        var term = 1.0
        var sum = 1.0
        for index in 1...12 {
            term *= part / Double(index)
            sum += term
        }
        var result = sum
        for _ in 0..<4 { result *= result }
        return result
    }

    private static func model(of kind: Kind) -> Model {
        switch kind {
        case .lte:
            Model(
                states: [
                    State(rate: 9, stay: 6, next: [0, 4, 1, 0]), State(rate: 4, stay: 5, next: [3, 0, 3, 0.2]),
                    State(rate: 1.2, stay: 4, next: [0.5, 4, 0, 0.8]), State(rate: 0, stay: 0.8, next: [0, 1, 3, 0]),
                ], deviation: 0.45, memory: 0.4, grid: 1)
        case .fiveG:
            Model(
                states: [
                    State(rate: 16, stay: 8, next: [0, 3, 1, 0.3]), State(rate: 7, stay: 6, next: [3, 0, 2, 0.3]),
                    State(rate: 1.8, stay: 3, next: [1, 3, 0, 0.6]), State(rate: 0, stay: 0.5, next: [1, 1, 2, 0]),
                ], deviation: 0.5, memory: 0.25, grid: 1)
        case .wifi:
            Model(
                states: [
                    State(rate: 9, stay: 5, next: [0, 3, 1]), State(rate: 4.5, stay: 4, next: [3, 0, 2]),
                    State(rate: 1.2, stay: 1.5, next: [1, 3, 0]),
                ], deviation: 0.35, memory: 0.1, grid: 2)
        case .umts:
            Model(
                states: [
                    State(rate: 3, stay: 10, next: [0, 4, 1, 0]), State(rate: 1.6, stay: 8, next: [3, 0, 3, 0.2]),
                    State(rate: 0.5, stay: 6, next: [0.5, 4, 0, 0.6]), State(rate: 0, stay: 1.2, next: [0, 1, 3, 0]),
                ], deviation: 0.35, memory: 0.6, grid: 10)
        case .satellite:
            Model(
                states: [
                    State(rate: 12, stay: 15, next: [1, 2, 1]), State(rate: 7, stay: 15, next: [2, 1, 1]),
                    State(rate: 3, stay: 15, next: [1, 2, 1]),
                ], deviation: 0.25, memory: 1, grid: 1)
        case .train:
            Model(
                states: [
                    State(rate: 8, stay: 4, next: [0, 3, 2, 0.4]), State(rate: 3.5, stay: 3, next: [3, 0, 3, 0.5]),
                    State(rate: 0.8, stay: 2, next: [1, 3, 0, 1]), State(rate: 0, stay: 5, next: [0.5, 1, 3, 0]),
                ], deviation: 0.6, memory: 0.2, grid: 1)
        case .cellWalking:
            Model(
                states: [
                    State(rate: 8, stay: 12, next: [0, 1, 0]), State(rate: 4.5, stay: 10, next: [1, 0, 1]),
                    State(rate: 2, stay: 8, next: [0, 1, 0]),
                ], deviation: 0.3, memory: 1.5, grid: 1)
        case .cellDriving:
            Model(
                states: [
                    State(rate: 8, stay: 4, next: [0, 1, 0]), State(rate: 4.5, stay: 4, next: [1, 0, 1]),
                    State(rate: 2, stay: 3, next: [0, 1, 0]),
                ], deviation: 0.4, memory: 0.15, grid: 1)
        case .line:
            Model(
                states: [
                    State(rate: 8, stay: 20, next: [0, 2, 1]), State(rate: 5, stay: 15, next: [3, 0, 1]),
                    State(rate: 3, stay: 10, next: [2, 1, 0]),
                ], deviation: 0.05, memory: 2, grid: 1)
        case .fading:
            Model(
                states: [State(rate: 1.5, stay: 20, next: [0, 1]), State(rate: 0, stay: 2.2, next: [1, 0])],
                deviation: 1, memory: 0.04, grid: 1)
        }
    }
}
