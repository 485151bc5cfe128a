import VectorGraphics

/// A plot of the points of several series. The mean of a series is a large point with a rim.
struct ScatterPlot {
    struct Series {
        var style: Int
        var name: String
        var points: [(x: Double, y: Double, label: String)]
        var mean: (x: Double, y: Double)?
    }

    var frame: PlotFrame
    var series: [Series]

    var svg: String {
        var content = ""
        for item in series {
            content += "<g class=\"p \(SeriesStyle.markClass(item.style))\">"
            for point in item.points {
                content += mark(item.style, point.x, point.y, size: 3.2, title: "\(item.name): \(point.label)")
            }
            content += "</g>"
        }
        // Means are drawn above all points.
        for item in series {
            guard let mean = item.mean else { continue }
            content += "<g class=\"m \(SeriesStyle.markClass(item.style))\">"
            content += mark(item.style, mean.x, mean.y, size: 7, title: "\(item.name): mean") + "</g>"
        }
        return frame.svg(content)
    }

    private func mark(_ style: Int, _ x: Double, _ y: Double, size: Double, title: String) -> String {
        let place = frame.point(x, y)
        let shape = SeriesStyle.shape(style, size: size)
        return "<path transform=\"translate(\(place.x) \(place.y))\" d=\"\(shape)\">"
            + "<title>\(XMLText.escaped(title))</title></path>"
    }
}
