import VectorGraphics

/// A plot of utilisation over p95 queueing delay of all controllers in all cases. The large marks are means.
struct DelayUtilisationPlot {
    var comparison: Comparison
    var cases: [Comparison.Case]
    var width = 360.0
    var height = 230.0
    var description: String

    var svg: String {
        let series = comparison.controllers.enumerated().compactMap { style, controller -> ScatterPlot.Series? in
            let points = cases.compactMap { item -> (x: Double, y: Double, label: String)? in
                guard let values = item.entry(of: controller)?.metrics,
                    let delay = values[.queueingDelay95], let utilization = values[.utilization]
                else { return nil }
                let label = """
                    \(item.scenario), \(NumberText.fixed(utilization, 1)) % at \(NumberText.fixed(delay, 0)) ms
                    """
                return (delay, utilization, label)
            }
            guard !points.isEmpty else { return nil }
            let count = Double(points.count)
            let mean = (points.reduce(0) { $0 + $1.x } / count, points.reduce(0) { $0 + $1.y } / count)
            return ScatterPlot.Series(style: style, name: controller, points: points, mean: mean)
        }
        let delays = series.flatMap(\.points).map(\.x)
        let frame = PlotFrame(
            width: width, height: height,
            x: Axis(
                from: min(max((delays.min() ?? 10) * 0.8, 1), 20), to: max((delays.max() ?? 100) * 1.2, 100),
                scale: .logarithmic, title: "p95 queueing delay, ms: less is better"),
            y: Axis(from: 0, to: 100, title: "utilisation, %"),
            description: description)
        return ScatterPlot(frame: frame, series: series).svg
    }
}
