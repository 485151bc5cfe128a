import Testing

@testable import Simulation

@Suite("Tables")
struct TableTests {
    private let table = ReportTable(heading: ["name", "a", "b"], rows: [["one", "1", ""], ["a|b", "100", ""]])

    @Test("columns are aligned, names to the left and numbers to the right")
    func text() {
        #expect(table.text == "name    a  b\none     1   \na|b   100   ")
    }

    @Test("columns without values are left out, except names")
    func emptyColumns() {
        #expect(table.withoutEmptyColumns.heading == ["name", "a"])
    }

    @Test("Markdown escapes characters of columns, HTML those of elements")
    func escaping() {
        #expect(table.markdown == "| name | a | b |\n| --- | ---: | ---: |\n| one | 1 |  |\n| a\\|b | 100 |  |")
        let html = ReportTable(heading: ["<b>"], rows: [["&"]]).html
        #expect(html.contains("&lt;b&gt;"))
        #expect(html.contains("&amp;"))
        #expect(ElementCounter(html).isWellFormed)
    }

    @Test("a row that is short is filled")
    func shortRow() {
        #expect(ReportTable(heading: ["a", "b"], rows: [["x"]]).text == "a  b\nx   ")
    }

    @Test("fields with commas, quotes and line breaks are quoted")
    func csv() {
        #expect(CSVText.line(["a", "b,c", "d\"e", "f\ng"]) == "a,\"b,c\",\"d\"\"e\",\"f\ng\"\n")
    }

    @Test("the table of flows has a row for all media and for each flow, with the metrics' names")
    func flowTable() {
        let metrics = ResultMaker.metrics(utilization: 50.1234, delay: 10, late: 0)
        let lines = FlowTable([ResultMaker.result("one", "a", metrics, flows: 2)]).csv.split(separator: "\n")
        #expect(lines.count == 4)
        #expect(lines[0].hasPrefix("suite,scenario,controller,seed,flow,kind,cap8_mbps,goodput_mbps,"))
        #expect(lines[1].hasPrefix("suite,one,a,1,all,media,"))
        #expect(lines[3].hasPrefix("suite,one,a,1,video 1,media,"))
        #expect(lines[1].contains(",50.123,"))
        #expect(lines.allSatisfy { $0.filter { $0 == "," }.count == 5 + Metric.allCases.count })
    }

    @Test("the table of means marks the controllers on the front")
    func comparisonTable() {
        let results = [
            ResultMaker.result("one", "a", ResultMaker.metrics(utilization: 50, delay: 10, late: 0)),
            ResultMaker.result("one", "b", ResultMaker.metrics(utilization: 40, delay: 10, late: 0)),
        ]
        let lines = ComparisonTable(Comparison(results)).csv.split(separator: "\n")
        #expect(lines[1].hasPrefix("suite,one,a,1,1,1,"))
        #expect(lines[2].hasPrefix("suite,one,b,1,0,0,"))
    }

    @Test("samples are reduced to the mean of rates and the largest of delays")
    func reduction() {
        var samples = (1...9).map { ResultMaker.sample(Double($0), rate: Double($0), capacity: nil) }
        samples[4].queueDelay = 500
        let reduced = samples.reduced(to: 3)
        #expect(reduced.map(\.time) == [3, 6, 9])
        #expect(reduced.map(\.goodput) == [2, 5, 8])
        #expect(reduced.map(\.queueDelay) == [10, 500, 10])
        #expect(reduced.allSatisfy { $0.capacity == nil })
        #expect(samples.reduced(to: 20) == samples)
        #expect(samples.reduced(to: 0).isEmpty)
        #expect(samples.reduced(to: 4).count <= 4)
    }
}
