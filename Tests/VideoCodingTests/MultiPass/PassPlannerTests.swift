import Foundation
import MediaCore
import Testing

@testable import VideoCoding

/// Content of which size and distortion are known for every rate factor.
private struct Content {
    var frameCount = 50
    /// At rate factor 23.
    var size: Double
    var distortion: Double
    var steepness = RateModel.Steepness.usual

    func encode(_ rateFactor: Double) -> PassMeasurement {
        let step = rateFactor - 23
        return PassMeasurement(
            rateFactor: rateFactor, size: DataSize(bytes: size * exp(-steepness.size * step)),
            distortion: distortion * exp(steepness.distortion * step))
    }
}

@Suite("The planner of passes")
struct PassPlannerTests {
    /// Makes passes until the planner wants no more.
    private func run(
        _ contents: [Content], from rateFactor: Double, to target: Int
    ) -> (groups: [PassPlanner.Group], asked: [[Int]]) {
        var groups = contents.map {
            PassPlanner.Group(frameCount: $0.frameCount, measurements: [$0.encode(rateFactor)])
        }
        var asked: [[Int]] = []
        let planner = PassPlanner(targetSize: DataSize(bytes: target))
        while asked.count < 10 {
            let requests = planner.requests(for: groups)
            guard !requests.isEmpty else { break }
            asked.append(requests.map(\.group))
            for request in requests {
                groups[request.group].measurements.append(contents[request.group].encode(request.rateFactor))
            }
        }
        return (groups, asked)
    }

    private func size(_ groups: [PassPlanner.Group]) -> Double {
        groups.reduce(0) { $0 + Double($1.measurements.last?.size.bytes ?? 0) }
    }

    private func distortion(_ groups: [PassPlanner.Group]) -> Double {
        groups.reduce(0) { $0 + ($1.measurements.last?.distortion ?? 0) }
    }

    private let mixed = [
        Content(size: 20_000, distortion: 0.5),
        Content(size: 200_000, distortion: 4, steepness: RateModel.Steepness(size: 0.16, distortion: 0.12)),
        Content(size: 60_000, distortion: 1, steepness: RateModel.Steepness(size: 0.1, distortion: 0.07)),
        Content(size: 90_000, distortion: 6, steepness: RateModel.Steepness(size: 0.12, distortion: 0.11)),
    ]

    @Test("goes back to earlier encodes, and to as few as bring the size nearest to the target")
    func goesBack() {
        func group(_ sizes: Int...) -> PassPlanner.Group {
            PassPlanner.Group(
                frameCount: 50,
                measurements: sizes.enumerated().map {
                    PassMeasurement(rateFactor: 20 + Double($0), size: DataSize(bytes: $1), distortion: 1)
                })
        }
        let planner = PassPlanner(targetSize: DataSize(bytes: 100_000))
        let circling = [group(62_000, 60_100, 61_500), group(41_000, 39_800, 40_700)]
        // 102,200 bytes: the first group's second encode takes off 1,400, the second group's 900 more.
        #expect(
            planner.returns(for: circling) == [.init(group: 0, rateFactor: 21), .init(group: 1, rateFactor: 21)])
        #expect(planner.returns(for: [group(62_000, 59_500), group(41_000, 40_600)]).isEmpty, "within 0.4 per cent")
        #expect(planner.returns(for: [group(70_000, 59_000), group(44_000, 40_000)]).isEmpty, "nothing is nearer")
    }

    @Test("meets the target within half a per cent", arguments: [80_000, 250_000, 900_000])
    func target(target: Int) {
        let (groups, asked) = run(mixed, from: 23, to: target)
        #expect(abs(size(groups) / Double(target) - 1) < 0.005)
        #expect(asked.count <= 5)
    }

    /// Pictures of noise: where the quantiser's step passes the noise's own size, all coefficients become zero, and the
    /// size falls to nothing within a few rate factors.
    private static func noise(_ rateFactor: Double, deviation: Double) -> PassMeasurement {
        let step = pow(2, (rateFactor - 3.5) / 6)
        let share = erfc(0.83 * step / deviation / 2.0.squareRoot())
        let bits = share * 21_600 * (5 + max(0, log2(deviation / step))) + 1500
        return PassMeasurement(
            rateFactor: rateFactor, size: DataSize(bytes: bits / 8 * 15),
            distortion: 15 * (1 - 0.95 * share.squareRoot()))
    }

    @Test(
        "meets the target with noise, which falls off steeply",
        arguments: [400_000, 900_000, 1_200_000, 2_000_000, 5_000_000], [20.0, 26, 32])
    func noise(target: Int, first: Double) {
        let deviations = (0..<60).map { $0.isMultiple(of: 3) ? 9.6 : 8.7 }
        var groups = deviations.map {
            PassPlanner.Group(frameCount: 15, measurements: [Self.noise(first, deviation: $0)])
        }
        let planner = PassPlanner(targetSize: DataSize(bytes: target))
        for _ in 2...8 {
            for request in planner.requests(for: groups) {
                groups[request.group].measurements.append(
                    Self.noise(request.rateFactor, deviation: deviations[request.group]))
            }
        }
        #expect(abs(size(groups) / Double(target) - 1) < 0.005)
    }

    @Test("spends bytes where they do the most")
    func distribution() {
        let target = 250_000
        let (groups, _) = run(mixed, from: 23, to: target)
        // The same size with one rate factor for all.
        let uniform =
            stride(from: 10.0, to: 48, by: 0.01).map { factor in mixed.map { $0.encode(factor) } }
            .first { $0.reduce(0) { $0 + $1.size.bytes } <= target } ?? []
        #expect(uniform.count == mixed.count)
        #expect(distortion(groups) < uniform.reduce(0) { $0 + $1.distortion } * 0.97)
        // A byte does about the same in all groups.
        let slopes = zip(groups, mixed).compactMap { group, content in
            group.measurements.last.map {
                content.steepness.distortion * $0.distortion / (content.steepness.size * Double($0.size.bytes))
            }
        }
        let uniformSlopes = zip(uniform, mixed).map { measurement, content in
            content.steepness.distortion * measurement.distortion
                / (content.steepness.size * Double(measurement.size.bytes))
        }
        #expect((slopes.max() ?? 1) / (slopes.min() ?? 1) < 2.5)
        #expect((uniformSlopes.max() ?? 1) / (uniformSlopes.min() ?? 1) > 3)
    }

    @Test("asks only for the groups whose bytes are better spent elsewhere")
    func subset() {
        // All are alike except two that are far from their target.
        var groups = (0..<20).map { _ in
            PassPlanner.Group(frameCount: 50, measurements: [Content(size: 50_000, distortion: 2).encode(23)])
        }
        groups[4].measurements = [Content(size: 50_000, distortion: 2).encode(15)]
        groups[11].measurements = [Content(size: 50_000, distortion: 2).encode(33)]
        let requests = PassPlanner(targetSize: DataSize(bytes: 1_000_000)).requests(for: groups)
        #expect(requests.map(\.group) == [4, 11])
        for request in requests { #expect(abs(request.rateFactor - 23) < 0.6) }
    }

    @Test("asks for nothing when size and distribution are right")
    func nothing() {
        let groups = (0..<5).map { _ in
            PassPlanner.Group(frameCount: 50, measurements: [Content(size: 50_000, distortion: 2).encode(23)])
        }
        #expect(PassPlanner(targetSize: DataSize(bytes: 250_500)).requests(for: groups).isEmpty)
        #expect(!PassPlanner(targetSize: DataSize(bytes: 260_000)).requests(for: groups).isEmpty)
        #expect(PassPlanner(targetSize: DataSize(bytes: 1)).requests(for: []).isEmpty)
    }

    @Test("abandons a target that no rate factor reaches", arguments: [10, 1_000_000_000])
    func unreachable(target: Int) {
        let (groups, asked) = run(mixed, from: 23, to: target)
        #expect(asked.count < 5)
        let factors = groups.compactMap { $0.measurements.last?.rateFactor }
        let end = target == 10 ? PassPlanner.rateFactors.upperBound : PassPlanner.rateFactors.lowerBound
        #expect(factors.allSatisfy { abs($0 - end) < 0.5 })
    }

    @Test("learns from two encodes how steep a group is")
    func steepness() throws {
        let content = mixed[1]
        let measurements = [content.encode(30), content.encode(20)]
        let model = try #require(RateModel(measurements, in: RateModel.Population([measurements])))
        #expect(abs(model.steepness.size - 0.16) < 0.005)
        #expect(abs(model.steepness.distortion - 0.12) < 0.005)
        let point = model.point(at: 25)
        #expect(abs(point.size / Double(content.encode(25).size.bytes) - 1) < 0.03)
    }

    @Test("takes pictures without any content")
    func black() {
        let empty = PassPlanner.Group(
            frameCount: 10, measurements: [PassMeasurement(rateFactor: 23, size: .zero, distortion: 0)])
        let requests = PassPlanner(targetSize: DataSize(bytes: 1000)).requests(for: [empty, empty])
        #expect(requests.allSatisfy { PassPlanner.rateFactors.contains($0.rateFactor) })
    }
}
