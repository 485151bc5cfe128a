/// A plot of cumulative distributions of delays: the share of delays that are at most a given value.
struct DistributionPlot {
    struct Distribution {
        var style: Int
        var name: String
        /// The delays in ms at the percentiles from 0 to 100.
        var percentiles: [Double]
        /// The share of all frames that the percentiles cover. Frames that never arrived are in no percentile.
        var part: Double
    }

    var width = 360.0
    var height = 190.0
    var distributions: [Distribution]
    var description: String

    var svg: String {
        let largest = distributions.compactMap(\.percentiles.last).max() ?? 100
        let least = distributions.compactMap(\.percentiles.first).min() ?? 10
        let frame = PlotFrame(
            width: width, height: height,
            x: Axis(
                from: min(max(least, 1), 50), to: min(max(largest, 200), 10_000), scale: .logarithmic,
                title: "ms"),
            y: Axis(from: 0, to: 100, title: "% of frames within"), description: description)
        let lines = distributions.map { distribution in
            let last = Double(max(distribution.percentiles.count - 1, 1))
            return LinePlot.Line(
                style: distribution.style, name: distribution.name,
                points: distribution.percentiles.enumerated().map { index, value in
                    (value, Double(index) / last * 100 * distribution.part)
                })
        }
        return LinePlot(frame: frame, lines: lines).svg
    }
}
