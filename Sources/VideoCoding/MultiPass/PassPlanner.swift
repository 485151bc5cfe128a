import Glibc
import MediaCore

/// Selects the groups of pictures that another pass should encode again, with their rate factors.
///
/// The least distortion at a given size is reached when one more byte would reduce the distortion equally in every
/// group (Lagrange's condition). The planner computes that distribution from models of the groups, and requests the
/// fewest frames that come close to it; the other frames have their size already. It requests nothing if the size is
/// right and the best distribution would not be visibly better.
struct PassPlanner {
    /// A closed group of pictures, as far as the planner goes.
    struct Group {
        var frameCount: Int
        /// All encodes of the group; the last one counts.
        var measurements: [PassMeasurement]
    }

    /// A group to encode again.
    struct Request: Hashable {
        /// The group's place in the stream.
        var group: Int
        var rateFactor: Double
    }

    var targetSize: DataSize

    /// The range of useful rate factors.
    static let rateFactors = 10.0...48.0
    /// The largest step from the last encoding for which a model is trusted.
    private static let furthestStep = 12.0
    /// The tolerated deviation of the size from the target, as a share.
    private static let sizeTolerance = 0.004
    /// The gain in decibels of SSIM that a further pass has to promise.
    private static let leastGain = 0.02
    /// The loss in decibels, compared with the best distribution, that is accepted to encode fewer frames.
    private static let concession = 0.006
    /// The tolerated deviation of a plan from the target, as a share.
    private static let planTolerance = 0.0005

    /// Returns the groups to encode again, in the order of the stream; none if another pass would gain too little.
    func requests(for groups: [Group]) -> [Request] {
        let population = RateModel.Population(groups.map(\.measurements))
        var candidates: [Candidate] = []
        for (index, group) in groups.enumerated() {
            guard let model = RateModel(group.measurements, in: population) else { return [] }
            candidates.append(Candidate(group: index, frameCount: max(1, group.frameCount), model: model))
        }
        guard !candidates.isEmpty, targetSize.bytes > 0 else { return [] }
        let current = Outcome(candidates.map(\.model.anchor))
        let best = plan(for: candidates, keeping: nil)
        guard isWorthAPass(from: current, to: best) else { return [] }
        let slope = exp(best.logarithmicSlope)
        for index in candidates.indices {
            let (before, after) = (candidates[index].model.anchor, best.points[index])
            let gain = (before.distortion - after.distortion) + slope * (before.size - after.size)
            candidates[index].gainPerFrame = gain / Double(candidates[index].frameCount)
        }
        candidates.sort { ($1.gainPerFrame, $0.group) < ($0.gainPerFrame, $1.group) }
        let chosen = smallestPlan(for: candidates, asGoodAs: best)
        return zip(candidates, chosen.points).map { Request(group: $0.group, rateFactor: $1.rateFactor) }
            .sorted { $0.group < $1.group }
    }

    /// Returns the groups of which an earlier encode brings the size nearer to the target, with its rate factor.
    ///
    /// The sizes of small noisy pictures jump as the rate factor changes, so that passes may go in circles around the
    /// target. An encode that was made before has a size that is known.
    func returns(for groups: [Group]) -> [Request] {
        let target = Double(targetSize.bytes)
        func distance(_ size: Double) -> Double { abs(size - target) }
        var size = groups.reduce(0.0) { $0 + Double($1.measurements.last?.size.bytes ?? 0) }
        var requests: [Request] = []
        while distance(size) > Self.sizeTolerance * target {
            var nearest: (request: Request, size: Double)?
            for (index, group) in groups.enumerated() where !requests.contains(where: { $0.group == index }) {
                guard let last = group.measurements.last else { continue }
                for earlier in group.measurements.dropLast() {
                    let changed = size - Double(last.size.bytes) + Double(earlier.size.bytes)
                    guard distance(changed) < distance(nearest?.size ?? size) else { continue }
                    nearest = (Request(group: index, rateFactor: earlier.rateFactor), changed)
                }
            }
            guard let nearest else { break }
            requests.append(nearest.request)
            size = nearest.size
        }
        return requests.sorted { $0.group < $1.group }
    }

    /// Returns true if a pass gets nearer to the target size, or makes the picture visibly better at the same size.
    private func isWorthAPass(from current: Outcome, to best: Plan) -> Bool {
        let target = Double(targetSize.bytes)
        let deviation = abs(current.size - target) / target
        if deviation > Self.sizeTolerance {
            // At the limits of rate factors, the target cannot be reached.
            let reachable = abs(best.outcome.size - target) / target
            if reachable < deviation * 0.7 { return true }
        }
        let excess =
            (current.distortion - best.outcome.distortion)
            + exp(best.logarithmicSlope) * (current.size - best.outcome.size)
        return decibels(excess, over: best) > Self.leastGain
    }

    /// Converts a distortion beyond a plan's to decibels of SSIM.
    private func decibels(_ excess: Double, over plan: Plan) -> Double {
        10 * log10(max(plan.outcome.distortion + excess, 1e-12) / max(plan.outcome.distortion, 1e-12))
    }

    /// The plan for the fewest of the candidates, the first ones, that comes close enough to the best one.
    private func smallestPlan(for candidates: [Candidate], asGoodAs best: Plan) -> Plan {
        func sufficient(_ count: Int) -> Plan? {
            let rest = Outcome(candidates[count...].map(\.model.anchor))
            let plan = plan(for: Array(candidates[..<count]), keeping: rest)
            let deviation = abs(plan.outcome.size - best.outcome.size) / Double(targetSize.bytes)
            let excess = plan.outcome.distortion - best.outcome.distortion
            return deviation <= Self.planTolerance && decibels(excess, over: best) <= Self.concession ? plan : nil
        }
        var (low, high) = (1, candidates.count)
        var found = plan(for: candidates, keeping: nil)
        while low < high {
            let middle = low + (high - low) / 2
            if let plan = sufficient(middle) {
                found = plan
                high = middle
            } else {
                low = middle + 1
            }
        }
        return found
    }

    /// Distributes the target less `rest` so that one more byte has the same effect everywhere.
    private func plan(for candidates: [Candidate], keeping rest: Outcome?) -> Plan {
        let rest = rest ?? Outcome(size: 0, distortion: 0)
        let budget = Double(targetSize.bytes) - rest.size
        func points(_ slope: Double) -> [RateModel.Point] { candidates.map { $0.point(logarithmicSlope: slope) } }
        let slopes = candidates.map(\.model.logarithmicSlope)
        // Beyond these every group is at an end of its rate factors.
        let reach = Self.furthestStep * 2
        var (low, high) = ((slopes.min() ?? 0) - reach, (slopes.max() ?? 0) + reach)
        for _ in 0..<60 {
            let middle = (low + high) / 2
            if points(middle).reduce(0, { $0 + $1.size }) > budget { low = middle } else { high = middle }
        }
        let found = points(high)
        let part = Outcome(found)
        return Plan(
            logarithmicSlope: high, points: found,
            outcome: Outcome(size: rest.size + part.size, distortion: rest.distortion + part.distortion))
    }

    private struct Candidate {
        var group: Int
        var frameCount: Int
        var model: RateModel
        /// The gain of a frame in the best distribution, as distortion or its equivalent in bytes.
        var gainPerFrame = 0.0

        func point(logarithmicSlope: Double) -> RateModel.Point {
            let wanted = model.rateFactor(logarithmicSlope: logarithmicSlope)
            let anchor = model.anchor.rateFactor
            let near = min(max(wanted, anchor - furthestStep), anchor + furthestStep)
            return model.point(at: min(max(near, rateFactors.lowerBound), rateFactors.upperBound))
        }
    }

    private struct Outcome {
        var size: Double
        var distortion: Double

        init(size: Double, distortion: Double) {
            self.size = size
            self.distortion = distortion
        }

        init(_ points: [RateModel.Point]) {
            size = points.reduce(0) { $0 + $1.size }
            distortion = points.reduce(0) { $0 + $1.distortion }
        }
    }

    private struct Plan {
        var logarithmicSlope: Double
        var points: [RateModel.Point]
        var outcome: Outcome
    }
}
