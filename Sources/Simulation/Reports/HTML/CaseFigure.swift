import VectorGraphics

/// The plots of one scenario side by side with their legend, as an SVG file for documents.
public struct CaseFigure: Sendable {
    public var comparison: Comparison
    public var item: Comparison.Case

    /// The number of samples of a curve. More points are not visible in a plot of this size.
    public static let sampleCount = 240

    private static let plotWidth = 360.0
    private static let plotHeight = 190.0
    private static let legendHeight = 24.0
    private static let columns = 3

    public init(_ comparison: Comparison, _ item: Comparison.Case) {
        self.comparison = comparison
        self.item = item
    }

    /// The scenario's name as a file name.
    public var fileName: String {
        String(item.scenario.map { $0.isLetter || $0.isNumber || ".-_=".contains($0) ? $0 : "-" }) + ".svg"
    }

    public var svg: String {
        let plots = CasePlots(comparison: comparison, item: item).plots
        let rows = (plots.count + Self.columns - 1) / Self.columns
        let width = NumberText.short(Self.plotWidth * Double(min(max(plots.count, 1), Self.columns)), 1)
        let height = NumberText.short(Self.legendHeight + Self.plotHeight * Double(rows), 1)
        var text = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(width)\" height=\"\(height)\" "
        text += "viewBox=\"0 0 \(width) \(height)\">\n<style>\(XMLText.escaped(HTMLStyle.plotRules))</style>\n"
        text += "<rect width=\"100%\" height=\"100%\" style=\"fill:var(--bg)\"/>\n\(legend)\n"
        for (number, plot) in plots.enumerated() {
            let x = NumberText.short(Self.plotWidth * Double(number % Self.columns), 1)
            let y = NumberText.short(Self.legendHeight + Self.plotHeight * Double(number / Self.columns), 1)
            text += "<g transform=\"translate(\(x) \(y))\">"
            text += "<svg width=\"\(NumberText.short(Self.plotWidth, 1))\" "
            text += "height=\"\(NumberText.short(Self.plotHeight, 1))\">\(plot)</svg></g>\n"
        }
        return text + "</svg>\n"
    }

    private var legend: String {
        var x = 46.0
        return item.entries.map { entry in
            let style = comparison.controllers.firstIndex(of: entry.controller) ?? 0
            let place = NumberText.short(x, 1)
            // A letter of the legend is about six points wide.
            x += 44 + Double(entry.controller.count) * 6 + 16
            return "<g transform=\"translate(\(place) 14)\"><path class=\"l \(SeriesStyle.lineClass(style))\" "
                + "d=\"M0 0H36\"/><text x=\"41\" dy=\".32em\">\(XMLText.escaped(entry.controller))</text></g>"
        }.joined()
    }
}
