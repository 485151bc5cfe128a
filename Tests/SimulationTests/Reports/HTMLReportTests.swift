import Testing

@testable import Simulation

@Suite("The HTML report")
struct HTMLReportTests {
    private func page(scenarios: Int, flows: Int = 1, samples: Int = 50, name: String = "scenario") -> String {
        let results = (0..<scenarios).flatMap { number in
            ["a", "b", "oracle"].enumerated().map { place, controller in
                ResultMaker.result(
                    "\(name) \(number)", controller,
                    ResultMaker.metrics(utilization: 50 + Double(place), delay: 20 + Double(number), late: 1),
                    suite: "suite \(number % 3)", flows: flows, samples: samples)
            }
        }
        return HTMLReport(Comparison(results), title: "Report", command: "confsim compare a<b").text
    }

    private func count(_ part: String, in text: String) -> Int {
        text.split(separator: part, omittingEmptySubsequences: false).count - 1
    }

    @Test("the page needs nothing from elsewhere and runs no script")
    func selfContained() {
        let text = page(scenarios: 2)
        for forbidden in ["<script", "http:", "https:", "src=", "@import", "url(", "<link", "<img"] {
            #expect(!text.contains(forbidden))
        }
    }

    @Test("it has a legend, both grounds, and three plots for each scenario beside the scatter")
    func parts() {
        let text = page(scenarios: 1)
        #expect(text.contains("class=\"legend\""))
        #expect(text.contains("prefers-color-scheme:dark"))
        #expect(count("<svg", in: text) - count("<svg viewBox=\"0 0 44 14\"", in: text) == 4)
        #expect(text.contains("confsim compare a&lt;b"))
        #expect(text.contains("1 scenario, 3 controllers, 1 seed."))
    }

    @Test("flows of one scenario have a plot for each controller")
    func flows() {
        let text = page(scenarios: 1, flows: 12)
        #expect(text.contains("Each flow; the first 8 of 12"))
        #expect(count("goodput of each flow", in: text) > 0)
        #expect(count("<svg", in: text) - count("<svg viewBox=\"0 0 44 14\"", in: text) == 7)
    }

    @Test("all plots and tables of the page are well-formed, whatever the names")
    func wellFormed() throws {
        let text = page(scenarios: 3, flows: 2, name: "<&\"'>")
        let body = try #require(text.split(separator: "</head>").last?.split(separator: "</html>").first)
        #expect(ElementCounter(String(body)).isWellFormed)
    }

    @Test("the same results give the same bytes")
    func deterministic() {
        #expect(page(scenarios: 5) == page(scenarios: 5))
    }

    @Test("a hundred scenarios have a page of bounded size")
    func bounded() {
        #expect(HTMLReport.sampleCount(forRuns: 1) == 600)
        let samples = HTMLReport.sampleCount(forRuns: 300)
        #expect(samples < 400)
        #expect(page(scenarios: 100, samples: samples).utf8.count < 20_000_000)
    }

    @Test("without input the page has no scenarios")
    func empty() {
        let text = HTMLReport(Comparison([]), title: "Report", command: "").text
        #expect(text.contains("0 scenarios, 0 controllers"))
    }

    @Test("a scenario's figure is an SVG file of its own, with its legend and a name that files can have")
    func figure() throws {
        let metrics = ResultMaker.metrics(utilization: 50, delay: 20, late: 1)
        let comparison = Comparison([
            ResultMaker.result("a/b <1>", "google", metrics), ResultMaker.result("a/b <1>", "oracle", metrics),
        ])
        let figure = CaseFigure(comparison, try #require(comparison.cases.first))
        #expect(figure.fileName == "a-b--1-.svg")
        let counter = ElementCounter(figure.svg)
        #expect(counter.isWellFormed)
        // Three plots in their places, and the file.
        #expect(counter.names["svg"] == 7)
        #expect(figure.svg.contains("oracle</text>"))
    }
}
