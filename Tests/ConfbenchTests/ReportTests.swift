import Foundation
import Testing

@testable import confbench

@Suite("Output of confbench")
struct ReportTests {
    private let report: BenchmarkReport = {
        var cost = FloorCost()
        cost.encode.add(.milliseconds(400), count: 100)
        var report = BenchmarkReport(machine: .init(processors: 2, model: "A", loadAverage: 0.5), durationSeconds: 10)
        for count in [2, 9] {
            var relay = RelayMeasurement(
                seconds: 10, cores: 0.25 * Double(count), work: WorkRate(participants: count, way: .personal))
            relay.missedTicks = UInt64(count)
            report.conferences.append(
                ConferenceResult(way: .personal, participants: count, floors: [cost, cost], relay: [relay]))
        }
        return report
    }()

    @Test("the table is Markdown with a row for each conference, columns under their heads")
    func table() {
        let lines = ResultTable(report: report).text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 4)
        #expect(Set(lines.map(\.count)).count == 1)
        #expect(lines.allSatisfy { $0.hasPrefix("| ") && $0.hasSuffix(" |") })
        #expect(lines[1].allSatisfy { "|-: ".contains($0) })
        let heads = cells(of: lines[0])
        #expect(heads.prefix(6) == ["way", "N", "floor", "+audio", "relay", "ratio"])
        #expect(cells(of: lines[3]).prefix(6) == ["personal", "9", "1.080", "1.080", "2.250", "2.083"])
    }

    private func cells(of line: Substring) -> [String] {
        line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    @Test("the JSON has the same numbers and reads back")
    func json() throws {
        let data = try JSONEncoder().encode(report)
        let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(object["version"] as? Int == 1)
        let conferences = try #require(object["conferences"] as? [[String: Any]])
        #expect(conferences.map { $0["participants"] as? Int } == [2, 9])
        #expect(conferences[1]["relayCores"] as? Double == 2.25)
        #expect(conferences[1]["missedTicks"] as? Int == 9)
        let again = try JSONDecoder().decode(BenchmarkReport.self, from: data)
        #expect(again.conferences[0].ratio == report.conferences[0].ratio)
    }

    @Test(
        "participants are numbers from 2 to 100 with commas between them",
        arguments: ["", "1", "101", "2,", "2;4", "a"])
    func refusedCounts(argument: String) {
        #expect(ParticipantCounts(argument: argument) == nil)
    }

    @Test("participants are read in their order")
    func counts() {
        #expect(ParticipantCounts(argument: "9,2,4")?.values == [9, 2, 4])
    }

    @Test("the table of passes shows how far off the target each method is")
    func passesTable() {
        let results = [("single", 424.0), ("passes", 399.0)].map { method, rate in
            PassesResult(
                method: method, targetKilobitsPerSecond: 400, kilobitsPerSecond: rate,
                structuralSimilarityDecibels: 15.25, peakSignalToNoiseRatio: 38.5, passes: 2, shareEncodedAnew: 0.4,
                processorSeconds: 12)
        }
        let lines = PassesResult.table(results).split(separator: "\n")
        #expect(Set(lines.map(\.count)).count == 1)
        #expect(lines[2].contains("+6.00 %") && lines[3].contains("-0.25 %"))
        #expect(cells(of: lines[3]).suffix(5) == ["15.25", "38.50", "2", "40 %", "12.0"])
    }
}
