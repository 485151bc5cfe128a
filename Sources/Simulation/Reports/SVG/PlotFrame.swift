import VectorGraphics

/// The drawing area of a plot, with its axes, grid and labels.
struct PlotFrame {
    var width = 360.0
    var height = 190.0
    var x: Axis
    var y: Axis
    /// A text that describes the plot for people who cannot see it.
    var description: String

    private static let left = 46.0
    private static let right = 10.0
    private static let top = 20.0
    private static let bottom = 34.0

    private var plotWidth: Double { width - Self.left - Self.right }
    private var plotHeight: Double { height - Self.top - Self.bottom }

    /// Returns the position of a point, with one decimal: enough for the eye, and short.
    func point(_ x: Double, _ y: Double) -> (x: String, y: String) {
        (
            NumberText.short(Self.left + self.x.position(of: x) * plotWidth, 1),
            NumberText.short(Self.top + (1 - self.y.position(of: y)) * plotHeight, 1)
        )
    }

    /// Returns the complete plot with `content` inside.
    func svg(_ content: String) -> String {
        let label = XMLText.escaped(description)
        var text = "<svg viewBox=\"0 0 \(NumberText.short(width, 1)) \(NumberText.short(height, 1))\" role=\"img\" "
        text += "aria-label=\"\(label)\"><title>\(label)</title>"
        text += grid
        text += content
        return text + "</svg>"
    }

    private var grid: String {
        let bottom = NumberText.short(height - Self.bottom, 1)
        let top = NumberText.short(Self.top, 1)
        let left = NumberText.short(Self.left, 1)
        let right = NumberText.short(width - Self.right, 1)
        var path = ""
        var labels = ""
        for tick in y.ticks(about: 5) {
            let place = point(x.lower, tick.value).y
            path += "M\(left) \(place)H\(right)"
            labels += "<text x=\"\(NumberText.short(Self.left - 4, 1))\" y=\"\(place)\" dy=\".32em\" class=\"ty\">"
            labels += "\(tick.label)</text>"
        }
        let bottomLabel = NumberText.short(height - Self.bottom + 12, 1)
        for tick in x.ticks(about: 6) {
            let place = point(tick.value, y.lower).x
            path += "M\(place) \(bottom)v3"
            labels += "<text x=\"\(place)\" y=\"\(bottomLabel)\" class=\"tx\">\(tick.label)</text>"
        }
        var text = "<path class=\"g\" d=\"\(path)\"/><path class=\"ax\" d=\"M\(left) \(top)V\(bottom)H\(right)\"/>"
        text += labels
        text += "<text x=\"\(NumberText.short(width - Self.right, 1))\" y=\"\(NumberText.short(height - 6, 1))\" "
        text += "class=\"ty\">\(XMLText.escaped(x.title))</text>"
        text += "<text x=\"2\" y=\"11\" class=\"tt\">\(XMLText.escaped(y.title))</text>"
        return text
    }
}
