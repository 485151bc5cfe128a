import Testing

@testable import Simulation

@Suite("Controllers side by side")
struct ComparisonTests {
    private let better = ResultMaker.metrics(utilization: 80, delay: 40, late: 2)
    private let worse = ResultMaker.metrics(utilization: 70, delay: 50, late: 3)
    private let faster = ResultMaker.metrics(utilization: 50, delay: 10, late: 3)

    @Test("a controller that is worse in everything is dominated; one that is better in something is not")
    func dominance() {
        #expect(ParetoFront.dominates(better, worse))
        #expect(!ParetoFront.dominates(worse, better))
        #expect(!ParetoFront.dominates(better, faster))
        #expect(!ParetoFront.dominates(better, better))
        #expect(ParetoFront.indices(of: [worse, better, faster, better]) == [1, 2, 3])
    }

    @Test("a figure that one of them lacks is not compared")
    func missingFigures() {
        var unknown = better
        unknown[.framesLateOrLost] = nil
        #expect(ParetoFront.dominates(unknown, worse))
        #expect(!ParetoFront.dominates(unknown, better))
    }

    @Test("front and best score are marked among contenders; references take no part")
    func marks() throws {
        let perfect = ResultMaker.metrics(utilization: 100, delay: 0, late: 0)
        let comparison = Comparison([
            ResultMaker.result("one", "a", better), ResultMaker.result("one", "b", worse),
            ResultMaker.result("one", "c", faster), ResultMaker.result("one", "oracle", perfect),
        ])
        let item = try #require(comparison.cases.first)
        #expect(item.entries.filter(\.isOnFront).map(\.controller) == ["a", "c"])
        #expect(item.entries.filter(\.isBest).map(\.controller) == ["a"])
        #expect(item.dominators(of: "b").map(\.controller) == ["a"])
        #expect(comparison.contenders == ["a", "b", "c"])
    }

    @Test("a controller alone has nothing to win")
    func alone() throws {
        let comparison = Comparison([
            ResultMaker.result("one", "a", better), ResultMaker.result("one", "oracle", worse),
        ])
        #expect(try #require(comparison.cases.first).entries.allSatisfy { !$0.isOnFront && !$0.isBest })
    }

    @Test("if all fail there is no best")
    func nobody() throws {
        let failed = ResultMaker.metrics(utilization: 90, delay: 40, late: 100)
        let comparison = Comparison([ResultMaker.result("one", "a", failed), ResultMaker.result("one", "b", failed)])
        let item = try #require(comparison.cases.first)
        #expect(item.entries.allSatisfy { $0.isOnFront && !$0.isBest })
    }

    @Test("runs with several seeds are one case with their mean")
    func seeds() throws {
        let comparison = Comparison([
            ResultMaker.result("one", "a", better, seed: 1), ResultMaker.result("one", "a", worse, seed: 2),
        ])
        let entry = try #require(comparison.cases.first?.entries.first)
        #expect(entry.runCount == 2)
        #expect(entry.metrics[.utilization] == 75)
        #expect(entry.result.seed == 1)
    }

    @Test("the mean of a figure is over those that have it")
    func meanOfSome() {
        var one = MetricValues()
        one[.ramp] = 4
        #expect(MetricValues.mean(of: [one, MetricValues()])[.ramp] == 4)
        #expect(MetricValues.mean(of: [])[.ramp] == nil)
    }

    private var several: Comparison {
        Comparison([
            ResultMaker.result("x/one", "a", better, suite: "x"), ResultMaker.result("x/one", "b", worse, suite: "x"),
            ResultMaker.result("x/two", "a", worse, suite: "x"), ResultMaker.result("x/two", "b", better, suite: "x"),
            ResultMaker.result("y/one", "a", better, suite: "y"), ResultMaker.result("y/one", "b", faster, suite: "y"),
        ])
    }

    @Test("standings count fronts, best scores, and the wins of each pair")
    func standings() throws {
        let standings = Standing.all(of: several.cases, controllers: several.controllers)
        #expect(standings.map(\.controller) == ["a", "b"])
        #expect(standings.map(\.frontCount) == [2, 2])
        #expect(standings.map(\.bestCount) == [2, 1])
        #expect(standings[0].aheadOf == ["b": 2])
        #expect(standings[1].aheadOf == ["a": 1])
        #expect(abs(try #require(standings[0].metrics[.utilization]) - 230.0 / 3) < 1e-9)
    }

    @Test("suites come in their order, with a mean of all at the end")
    func suites() {
        #expect(several.suites.map(\.name) == ["x", "y"])
        #expect(several.suites.map(\.cases.count) == [2, 1])
        #expect(several.meansTable.rows.map { $0[0] } == ["x", "x", "y", "y", "all", "all"])
    }

    @Test("the page for the repository names the command, the front, and the controllers that beat another one")
    func markdown() {
        let text = MarkdownReport(several, command: "confsim compare", subject: "b").text
        #expect(text.contains("confsim compare"))
        #expect(text.contains("**80 % · 40 ms · 2.0 %** ★"))
        #expect(text.contains("## Where b is not on the front"))
        #expect(text.contains("| x/one | a | 70.0 / 80.0 | 50.0 / 40.0 | 3.00 / 2.00 |"))
        #expect(!MarkdownReport(several, command: "", subject: "c").text.contains("Where"))
    }

    @Test("a table of constants shows the change of the score")
    func sensitivity() {
        let sensitivity = Sensitivity(
            standard: better, rows: [.init(parameter: "caution", factor: 0.5, metrics: worse)])
        let rows = sensitivity.table.rows
        #expect(rows[0].prefix(2) == ["(none)", "1"])
        #expect(rows[1].prefix(2) == ["caution", "0.5"])
        #expect(rows[1][3].hasPrefix("-2"))
        #expect(sensitivity.csv.split(separator: "\n").count == 3)
        #expect(sensitivity.markdown(command: "confsim sensitivity", scenarioCount: 7).contains("7 scenarios"))
    }
}
