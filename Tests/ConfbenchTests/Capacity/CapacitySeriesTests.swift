import Foundation
import Testing

@testable import confbench

@Suite("Runs of capacity")
struct CapacitySeriesTests {
    private func result(
        _ way: CapacityWay = .shared, _ participants: Int = 9, cores: Double = 0.5, framesPerSecond: Double = 30,
        latency: Double? = nil
    ) -> CapacityResult {
        var result = CapacityResult(
            way: way, participants: participants, cores: cores, clientCores: 0.1,
            leastFramesPerSecond: framesPerSecond, framesPerSecond: framesPerSecond, megabytesEach: 10)
        result.medianLatencyMilliseconds = latency
        return result
    }

    @Test("runs of one conference come together in one row, in the order of the first run")
    func rows() {
        var series = CapacitySeries(measuresAll: false)
        for cores in [0.5, 0.9, 0.6] {
            series.add(result(.shared, 9, cores: cores))
            series.add(result(.shared, 16, cores: cores * 2))
            series.add(result(.dedicated, 9, cores: cores * 3))
        }
        #expect(series.rows.map(\.median.cores) == [0.6, 1.2, 0.6 * 3])
        #expect(series.rows.map(\.median.participants) == [9, 16, 9])
        #expect(series.rows.map(\.runs.count) == [3, 3, 3])
    }

    @Test("a row is held only if each run was")
    func held() {
        #expect(CapacityRow(runs: [result(), result(), result()]).isHeld)
        #expect(!CapacityRow(runs: [result(), result(framesPerSecond: 29), result()]).isHeld)
    }

    @Test("no larger conference of a way follows one that was not held in any run, unless all are wanted")
    func growth() {
        var series = CapacitySeries(measuresAll: false)
        var all = CapacitySeries(measuresAll: true)
        for result in [result(.shared, 9), result(.shared, 16, framesPerSecond: 20)] {
            series.add(result)
            all.add(result)
        }
        // That one itself is measured again.
        #expect(series.isWanted(.shared, participants: 16))
        #expect(!series.isWanted(.shared, participants: 25))
        #expect(series.isWanted(.dedicated, participants: 25))
        #expect(all.isWanted(.shared, participants: 25))
        series.add(result(.shared, 9, framesPerSecond: 20))
        #expect(!series.isWanted(.shared, participants: 16))
    }

    @Test("the table has medians, with the lowest and the highest run")
    func table() {
        let runs = [(0.5, 20.0), (0.61, 24.0), (0.58, 31.0)].map { result(cores: $0.0, latency: $0.1) }
        let lines = CapacityRow.table([CapacityRow(runs: runs), CapacityRow(runs: [result(cores: 1)])])
            .split(separator: "\n")
        #expect(Set(lines.map(\.count)).count == 1)
        #expect(lines[2].contains(" 0.58 (0.50–0.61) ") && lines[2].contains(" 24 (20–31) "))
        #expect(lines[3].contains(" 1.00 |"))
    }

    @Test("JSON has the medians where the figures always were, the spread, and each run; it reads back")
    func json() throws {
        let row = CapacityRow(runs: [result(cores: 0.4), result(cores: 0.7, latency: 12), result(cores: 0.5)])
        let data = try JSONEncoder().encode(row)
        let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(object["cores"] as? Double == 0.5)
        #expect(object["way"] as? String == "shared")
        #expect(object["isHeld"] as? Bool == true)
        #expect(object["medianLatencyMilliseconds"] as? Double == 12)
        #expect((object["lowest"] as? [String: Any])?["cores"] as? Double == 0.4)
        #expect((object["highest"] as? [String: Any])?["cores"] as? Double == 0.7)
        #expect((object["runs"] as? [Any])?.count == 3)
        #expect(try JSONDecoder().decode(CapacityRow.self, from: data).median.cores == 0.5)
    }

    @Test("the ratio is to the floor of the work that was done; without encodes there is none")
    func floor() {
        var cost = FloorCost()
        cost.decode.add(.milliseconds(100), count: 100)
        cost.compose.add(.milliseconds(50), count: 100)
        cost.encode.add(.milliseconds(400), count: 100)
        var result = result(cores: 0.81)
        result.add(cost, for: WorkRate(participants: 9, way: .shared, hasSound: false))
        #expect(abs((result.floorCores ?? 0) - 0.405) < 1e-9)
        #expect(abs((result.floorRatio ?? 0) - 2) < 1e-9)
        var forwarded = self.result(.forwarding, 2)
        forwarded.add(
            cost, for: WorkRate(decodes: 60, compositions: 0, encodes: 0, audioDecodes: 100, audioEncodes: 100))
        #expect(forwarded.floorCores == nil && forwarded.floorRatio == nil)
    }
}
