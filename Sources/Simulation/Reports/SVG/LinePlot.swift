import VectorGraphics

/// Lines over a common axis, and what they are held against as an area.
struct LinePlot {
    struct Line {
        /// Which of the style's colours and dashes it has.
        var style: Int
        var name: String
        /// A gap is where y is nil.
        var points: [(x: Double, y: Double?)]
    }

    var frame: PlotFrame
    /// Filled down to the axis, in steps: the capacity.
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

    /// Each value holds from the point before it to its own.
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
