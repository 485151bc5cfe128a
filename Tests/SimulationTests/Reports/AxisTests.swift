import Testing

@testable import Simulation

@Suite("Axes")
struct AxisTests {
    @Test(
        "marks are round numbers, about as many as asked for",
        arguments: [
            (0.0, 1.0, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]), (0, 8.4, ["0", "2", "4", "6", "8"]),
            (0, 120, ["0", "50", "100"]), (0, 100, ["0", "20", "40", "60", "80", "100"]),
            (-1, 1, ["-1.0", "-0.5", "0.0", "0.5", "1.0"]), (0, 0.04, ["0.00", "0.01", "0.02", "0.03", "0.04"]),
        ])
    func linear(lower: Double, upper: Double, labels: [String]) {
        #expect(Axis(from: lower, to: upper, title: "").ticks(about: 5).map(\.label) == labels)
    }

    @Test(
        "marks of a logarithmic axis are powers of ten, and more where there is room",
        arguments: [
            (1.0, 100.0, ["1", "3", "10", "30", "100"]), (20, 200, ["20", "50", "100", "200"]),
            (1, 100_000, ["1", "10", "100", "1000", "10000", "100000"]),
        ])
    func logarithmic(lower: Double, upper: Double, labels: [String]) {
        let axis = Axis(from: lower, to: upper, scale: .logarithmic, title: "")
        #expect(axis.ticks(about: 5).map(\.label) == labels)
    }

    @Test("values are placed in proportion, and those outside at the bounds")
    func positions() {
        let linear = Axis(from: 10, to: 30, title: "")
        #expect(linear.position(of: 15) == 0.25)
        #expect(linear.position(of: 5) == 0)
        #expect(linear.position(of: 99) == 1)
        #expect(linear.position(of: .nan) == 0)
        let logarithmic = Axis(from: 1, to: 1000, scale: .logarithmic, title: "")
        #expect(abs(logarithmic.position(of: 10) - 1.0 / 3) < 1e-12)
        #expect(logarithmic.position(of: 0) == 0)
    }

    @Test("bounds that are none become some")
    func strangeBounds() {
        for axis in [
            Axis(from: 5, to: 5, title: ""), Axis(from: .nan, to: .infinity, title: ""),
            Axis(from: -3, to: 0, scale: .logarithmic, title: ""),
        ] {
            #expect(axis.upper > axis.lower)
            #expect(axis.ticks().allSatisfy { $0.value.isFinite })
        }
        #expect(Axis(from: -3, to: 0, scale: .logarithmic, title: "").lower > 0)
    }

    @Test(
        "logarithms are right to the last digits",
        arguments: [(1.0, 0.0), (10, 1), (1000, 3), (2, 0.301_029_995_663_981_2), (0.05, -1.301_029_995_663_981_2)])
    func logarithms(value: Double, logarithm: Double) {
        #expect(abs(Logarithm.base10(value) - logarithm) < 1e-14)
    }
}
