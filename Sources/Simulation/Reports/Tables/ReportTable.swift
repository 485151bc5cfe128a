import VectorGraphics

/// A table with a heading, as text for a terminal, as Markdown or as HTML.
public struct ReportTable: Hashable, Sendable {
    public var heading: [String]
    public var rows: [[String]]
    /// The number of columns with names, aligned left. The others are numbers, aligned right.
    public var leading: Int

    public init(heading: [String], rows: [[String]], leading: Int = 1) {
        self.heading = heading
        self.rows = rows
        self.leading = leading
    }

    /// The table without the columns that are empty in all rows.
    public var withoutEmptyColumns: ReportTable {
        let kept = heading.indices.filter { column in
            column < leading || rows.contains { $0.indices.contains(column) && !$0[column].isEmpty }
        }
        return ReportTable(
            heading: kept.map { heading[$0] }, rows: rows.map { row in kept.map { cell(row, $0) } }, leading: leading)
    }

    private func cell(_ row: [String], _ column: Int) -> String {
        row.indices.contains(column) ? row[column] : ""
    }

    /// The table as text, with aligned columns and two spaces between them.
    public var text: String {
        let all = [heading] + rows
        let widths = heading.indices.map { column in all.map { cell($0, column).count }.max() ?? 0 }
        return all.map { row in
            heading.indices.map { column in
                let cell = cell(row, column)
                let space = String(repeating: " ", count: widths[column] - cell.count)
                return column < leading ? cell + space : space + cell
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }

    public var markdown: String {
        func line(_ cells: [String]) -> String {
            "| "
                + cells.map { $0.split(separator: "|", omittingEmptySubsequences: false).joined(separator: "\\|") }
                .joined(separator: " | ") + " |"
        }
        let rule = heading.indices.map { $0 < leading ? "---" : "---:" }
        return ([line(heading), line(rule)] + rows.map { row in line(heading.indices.map { cell(row, $0) }) })
            .joined(separator: "\n")
    }

    public var html: String {
        func cells(_ row: [String], _ tag: String) -> String {
            heading.indices.map { column in
                let isName = column < leading
                let tag = isName ? "th" : tag
                let kind = isName ? (tag == "th" ? " scope=\"row\"" : "") : ""
                return "<\(tag)\(kind)>\(XMLText.escaped(cell(row, column)))</\(tag)>"
            }.joined()
        }
        let head = heading.enumerated().map { column, title in
            "<th scope=\"col\"\(column < leading ? " class=\"n\"" : "")>\(XMLText.escaped(title))</th>"
        }.joined()
        let body = rows.map { "<tr>\(cells($0, "td"))</tr>" }.joined(separator: "\n")
        return "<div class=\"wide\"><table><thead><tr>\(head)</tr></thead>\n<tbody>\(body)</tbody></table></div>"
    }
}
