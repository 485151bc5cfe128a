import VectorGraphics

/// A plot of lines over a common axis, with an optional area for comparison.
struct LinePlot {
    struct Line {
        /// The index of its colour and dashes.
        var style: Int
        var name: String
        /// The points; a nil y is a gap.
        var points: [(x: Double, y: Double?)]
    }

    var frame: PlotFrame
    /// The steps of an area filled down to the axis: the capacity.
    var area: [(x: Double, y: Double?)] = []
    var lines: [Line]

    var svg: String {
        var content = ""
        if !area.isEmpty { content += "<path class=\"cap\" d=\"\(areaPath)\"/>" }
        for line in lines {
            let name = XMLText.escaped(line.name)
            content += "<path class=\"l \(SeriesStyle.lineClass(line.style))\" d=\"\(path(line.points))\">"
            content += "<title>\(name)</title></path>"
        }
        return frame.svg(content)
    }

    private func path(_ points: [(x: Double, y: Double?)]) -> String {
        var text = ""
        var isDown = false
        for point in points {
            guard let y = point.y else {
                isDown = false
                continue
            }
            let place = frame.point(point.x, y)
            text += "\(isDown ? "L" : "M")\(place.x) \(place.y)"
            isDown = true
        }
        return text
    }

    /// The area's path. Each value applies from the preceding point to its own.
    private var areaPath: String {
        var text = ""
        var start = frame.x.lower
        let floor = frame.point(start, frame.y.lower).y
        text += "M\(frame.point(start, frame.y.lower).x) \(floor)"
        for point in area {
            let place = frame.point(start, point.y ?? frame.y.lower)
            text += "V\(place.y)H\(frame.point(point.x, 0).x)"
            start = point.x
        }
        return text + "V\(floor)Z"
    }
}
