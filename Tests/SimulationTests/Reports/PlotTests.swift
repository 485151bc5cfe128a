import Foundation
import FoundationXML
import Testing

@testable import Simulation

/// Checks that a text is XML, and counts its elements.
final class ElementCounter: NSObject, XMLParserDelegate {
    private(set) var names: [String: Int] = [:]
    private(set) var isWellFormed = false

    init(_ text: String) {
        super.init()
        let parser = XMLParser(data: Data(text.utf8))
        parser.delegate = self
        isWellFormed = parser.parse()
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        names[name, default: 0] += 1
    }
}

@Suite("Plots")
struct PlotTests {
    private func frame(_ description: String = "a plot") -> PlotFrame {
        // The area is 100 by 100, from (46, 20).
        PlotFrame(
            width: 156, height: 154, x: Axis(from: 0, to: 10, title: "s"), y: Axis(from: 0, to: 1, title: "part"),
            description: description)
    }

    @Test("a line goes through its points, and has a gap where there is none")
    func line() {
        let plot = LinePlot(
            frame: frame(),
            lines: [.init(style: 0, name: "one", points: [(0, 0), (5, 0.5), (6, nil), (10, 1), (10, 9)])])
        #expect(plot.svg.contains("d=\"M46 120L96 70M146 20L146 20\""))
    }

    @Test("the capacity is an area in steps")
    func area() {
        let plot = LinePlot(frame: frame(), area: [(5, 1), (10, 0.5)], lines: [])
        #expect(plot.svg.contains("d=\"M46 120V20H96V70H146V120Z\""))
    }

    @Test("a scatter has a mark for each point with its name, and a large one for the mean")
    func scatter() {
        let plot = ScatterPlot(
            frame: frame(),
            series: [
                .init(style: 1, name: "one", points: [(1, 0.1, "here"), (2, 0.2, "there")], mean: (1.5, 0.15)),
                .init(style: 2, name: "two", points: [(3, 0.3, "there")], mean: nil),
            ])
        let svg = plot.svg
        #expect(svg.contains("<title>one: there</title>"))
        #expect(svg.contains("<title>one: mean</title>"))
        #expect(!svg.contains("<title>two: mean</title>"))
        #expect(ElementCounter(svg).names["g"] == 3)
    }

    @Test("a distribution ends at the part of frames that came")
    func distribution() {
        let plot = DistributionPlot(
            distributions: [.init(style: 0, name: "one", percentiles: [50, 100, 10_000], part: 0.5)],
            description: "frames")
        // 50 % of a plot from 0 to 100 % that is 136 points high and begins at 20.
        #expect(plot.svg.contains("M46 156L"))
        #expect(plot.svg.contains("L350 88"))
    }

    @Test("a plot is well-formed XML with a description, whatever the names")
    func wellFormed() {
        let name = "<script>\"&'\u{0}"
        let plot = LinePlot(
            frame: frame(name), lines: [.init(style: 99, name: name, points: [(0, .nan), (1, .infinity)])])
        let counter = ElementCounter(plot.svg)
        #expect(counter.isWellFormed)
        #expect(counter.names["script"] == nil)
        #expect(counter.names["title"] == 2)
        #expect(plot.svg.contains("role=\"img\" aria-label="))
    }

    @Test("every style has a colour, a dash and a shape of its own")
    func styles() {
        let all = 0..<SeriesStyle.count
        #expect(SeriesStyle.colours.count == SeriesStyle.count)
        #expect(Set(SeriesStyle.dashes).count == SeriesStyle.count)
        #expect(Set(all.map { SeriesStyle.shape($0, size: 4) }).count == SeriesStyle.count)
        #expect(SeriesStyle.index(-1) == SeriesStyle.count - 1)
    }

    /// The contrast of a colour to a grey ground (WCAG 2.2).
    private func contrast(_ colour: String, ground: String) -> Double {
        func luminance(_ text: String) -> Double {
            let value = Int(text.dropFirst(), radix: 16) ?? 0
            return zip([0.2126, 0.7152, 0.0722], [16, 8, 0]).reduce(0) { sum, part in
                let channel = Double(value >> part.1 & 255) / 255
                return sum + part.0 * (channel <= 0.04045 ? channel / 12.92 : pow((channel + 0.055) / 1.055, 2.4))
            }
        }
        let both = [luminance(colour), luminance(ground)].sorted()
        return (both[1] + 0.05) / (both[0] + 0.05)
    }

    @Test("colours are visible on light and dark backgrounds, and on the capacity's area")
    func contrast() {
        for (light, dark) in SeriesStyle.colours {
            #expect(contrast(light, ground: "#f8f8f8") >= 3)
            #expect(contrast(light, ground: "#dfe3e8") >= 3)
            #expect(contrast(dark, ground: "#1a1d21") >= 3)
            #expect(contrast(dark, ground: "#33383f") >= 3)
        }
    }
}
