import VectorGraphics

/// A legend: the names of series beside their lines and shapes.
struct Legend {
    var names: [(style: Int, name: String)]
    /// The meaning of the area; nil if there is none.
    var area: String?

    var html: String {
        var items = names.map { item in
            """
            <li><svg viewBox="0 0 44 14" aria-hidden="true"><path class="l \(SeriesStyle.lineClass(item.style))" \
            d="M1 7H43"/><g class="m \(SeriesStyle.markClass(item.style))"><path transform="translate(22 7)" \
            d="\(SeriesStyle.shape(item.style, size: 4.5))"/></g></svg>\(XMLText.escaped(item.name))</li>
            """
        }
        if let area {
            items.append(
                "<li><svg viewBox=\"0 0 44 14\" aria-hidden=\"true\"><path class=\"cap\" d=\"M1 1H43V13H1Z\"/></svg>"
                    + "\(XMLText.escaped(area))</li>")
        }
        return "<ul class=\"legend\">\(items.joined())</ul>"
    }
}
