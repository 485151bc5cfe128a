import Conference
import VectorGraphics

/// Draws a room's last minute: rows for sources, composition, audio and encoders on one time axis.
///
/// The same snapshot gives the same text. Names come from anybody: they are escaped, cut, and kept from changing the
/// direction of the text around them.
struct TimelineSVG {
    let snapshot: RoomTimelineSnapshot
    /// The time of the snapshot, for people.
    var madeAt = ""
    /// The rules that colour the drawing's classes.
    var stylesheet = ""

    static let width = 1290.0
    static let left = 212.0
    static let pixelsPerSecond = 16.0
    static let plotWidth = 61 * pixelsPerSecond
    static let right = left + plotWidth
    static let margin = 14.0
    /// The drawing is no longer than this many findings; the rest is counted.
    private static let maximumFindings = 8
    /// The number of rows above which a tooltip covers five seconds in place of one, so that the drawing stays small.
    private static let manyRows = 40

    /// The drawing as a document.
    var svg: String {
        var body = SVGBuilder()
        var y = header(&body)
        let top = y
        y = axis(&body, y: y)
        y = sourceRows(&body, y: y)
        y = compositionRows(&body, y: y)
        y = encoderRows(&body, y: y)
        y = audioRows(&body, y: y)
        let height = y + Self.margin
        var svg = SVGBuilder()
        let label = "Room \(snapshot.room), the last minute"
        svg.element(
            "svg",
            [
                "xmlns": "http://www.w3.org/2000/svg",
                "viewBox": "0 0 \(NumberText.short(Self.width, 1)) \(NumberText.short(height, 1))",
                "width": .number(Self.width), "height": .number(height), "class": "timeline", "role": "img",
                "aria-label": .text(label),
            ]
        ) { svg in
            if !stylesheet.isEmpty { svg.text(stylesheet, [:], in: "style") }
            svg.element("rect", ["class": "t-ground", "width": .number(Self.width), "height": .number(height)])
            grid(&svg, top: top, bottom: y)
            svg.append(body)
            svg.element(
                "path",
                [
                    "class": "t-now",
                    "d": .text("M\(SVGPath.place(x(0))) \(SVGPath.place(top + 14))V\(SVGPath.place(y))"),
                ])
        }
        return svg.text
    }

    // MARK: Places

    /// Returns the position of a time, in seconds from now.
    func x(_ time: Double) -> Double {
        let bounded = time.isFinite ? min(max(time, -60), 1) : time > 0 ? 1 : -60
        return Self.left + (bounded + 60) * Self.pixelsPerSecond
    }

    /// Returns the position of a bucket's start; the last bucket ends now.
    func x(bucket: Int) -> Double { x(min(snapshot.start(ofBucket: bucket), 0)) }

    private var rowCount: Int {
        snapshot.sources.count + snapshot.views.count + snapshot.audio.count + snapshot.encoders.count
    }

    /// The buckets of each tooltip, the newest last.
    var tooltipSpans: [Range<Int>] {
        let length = rowCount > Self.manyRows ? 50 : 10
        return stride(from: snapshot.bucketCount % length, to: snapshot.bucketCount, by: length).map {
            $0..<($0 + length)
        }
    }

    // MARK: Around the rows

    private func header(_ svg: inout SVGBuilder) -> Double {
        svg.text(
            "Room \(snapshot.room)", ["class": "t-title", "x": .number(Self.margin), "y": 30])
        svg.text(
            madeAt, ["class": "t-note t-end", "x": .number(Self.width - Self.margin), "y": 30])
        var y = 52.0
        let findings = snapshot.findings
        if findings.isEmpty {
            finding("Nothing is wrong: no picture stood still, no tick was missed", "t-good", &svg, y: &y)
        }
        for finding in findings.prefix(Self.maximumFindings) {
            self.finding(finding.text, finding.severity == .now ? "t-bad" : "t-fair", &svg, y: &y)
        }
        if findings.count > Self.maximumFindings {
            finding("… and \(findings.count - Self.maximumFindings) more", "t-fair", &svg, y: &y)
        }
        if snapshot.rowsLeftOut > 0 {
            finding("There is no room for all rows: some are left out", "t-fair", &svg, y: &y)
        }
        return y
    }

    private func finding(_ text: String, _ kind: String, _ svg: inout SVGBuilder, y: inout Double) {
        svg.element("circle", ["class": .text(kind), "cx": .number(Self.margin + 5), "cy": .number(y - 4), "r": 4.5])
        svg.text(text, ["class": "t-finding", "x": .number(Self.margin + 18), "y": .number(y)])
        y += 19
    }

    private func axis(_ svg: inout SVGBuilder, y: Double) -> Double {
        for second in stride(from: -60, through: -10, by: 10) {
            svg.text(
                "−\(-second) s", ["class": "t-tick t-middle", "x": .number(x(Double(second))), "y": .number(y + 10)])
        }
        svg.text("now", ["class": "t-tick t-strong t-middle", "x": .number(x(0)), "y": .number(y + 10)])
        svg.text("+1 s", ["class": "t-tick", "x": .number(x(1) + 2), "y": .number(y + 10)])
        return y + 16
    }

    private func grid(_ svg: inout SVGBuilder, top: Double, bottom: Double) {
        svg.element(
            "rect",
            [
                "class": "t-future", "x": .number(x(0)), "y": .number(top + 14), "width": .number(Self.pixelsPerSecond),
                "height": .number(bottom - top - 14),
            ])
        var path = SVGPath()
        for second in stride(from: -60, through: -5, by: 5) {
            path.move(x(Double(second)), top + 14)
            path.vertical(to: bottom)
        }
        svg.element("path", ["class": "t-grid", "d": .text(path.data)])
    }

    /// Draws a heading of rows, with the meaning of their colours.
    func section(_ title: String, legend: [(mark: String, text: String)], _ svg: inout SVGBuilder, y: Double) -> Double
    {
        var baseline = y + 22
        svg.text(title, ["class": "t-section", "x": .number(Self.margin), "y": .number(baseline)])
        var place = Self.left
        for (mark, text) in legend {
            let width = 16 + TimelineText.width(text, size: 10.5) + 13
            if place + width > Self.right + 60 {
                place = Self.left
                baseline += 15
            }
            if let shape = mark.hasPrefix("t-line ") ? Self.lineShape : Self.shapes[mark] {
                svg.element(
                    "path",
                    [
                        "class": .text(mark),
                        "transform": .text("translate(\(SVGPath.place(place + 6)) \(SVGPath.place(baseline - 4)))"),
                        "d": .text(shape),
                    ])
            } else {
                svg.element(
                    "rect",
                    ["class": .text(mark), "x": .number(place), "y": .number(baseline - 9), "width": 12, "height": 9])
            }
            svg.text(text, ["class": "t-legend", "x": .number(place + 16), "y": .number(baseline)])
            place += width
        }
        return baseline + 8
    }

    /// Draws a row's name on the left, with a line on its present state, and its background.
    func rowFrame(
        _ title: String, detail: String, tooltip: String, height: Double, isOver: Bool, _ svg: inout SVGBuilder,
        y: Double
    ) {
        svg.element(
            "rect",
            [
                "class": "t-row", "x": .number(Self.left), "y": .number(y), "width": .number(Self.plotWidth),
                "height": .number(height),
            ])
        let room = Self.left - Self.margin - 8
        let middle = y + height / 2
        svg.element("g", ["class": .text(isOver ? "t-over" : "t-there")]) { svg in
            svg.text(tooltip, [:], in: "title")
            svg.text(
                TimelineText.fitted(title, width: room),
                ["class": "t-name", "x": .number(Self.margin), "y": .number(detail.isEmpty ? middle + 4 : middle - 3)])
            if !detail.isEmpty {
                svg.text(
                    TimelineText.fitted(detail, width: room, size: 10.5),
                    ["class": "t-detail", "x": .number(Self.margin), "y": .number(middle + 11)])
            }
        }
    }

    /// Adds tooltips to a row, with the figures at the pointer.
    func tooltips(_ svg: inout SVGBuilder, y: Double, height: Double, _ text: (Range<Int>) -> String?) {
        for span in tooltipSpans {
            guard let text = text(span) else { continue }
            let (from, to) = (x(bucket: span.lowerBound), x(bucket: span.upperBound))
            svg.element(
                "rect",
                [
                    "class": "t-hit", "x": .number(from), "y": .number(y), "width": .number(to - from),
                    "height": .number(height),
                ], title: text)
        }
    }

    /// Returns the name of a span of buckets for a tooltip.
    func name(of span: Range<Int>) -> String {
        TimelineText.span(snapshot.start(ofBucket: span.lowerBound), min(snapshot.start(ofBucket: span.upperBound), 0))
    }

    // MARK: Shapes

    /// Marks that are no areas, around their place.
    static let shapes = [
        "t-keyframe": "M0 -4.5L4.5 0L0 4.5L-4.5 0Z", "t-request": "M-4 -3.5H4L0 4Z",
        "t-format": "M0 -5V5M-3 -5H3M-3 5H3",
        "t-lost": "M0 -4V4", "t-deadline": lineShape, "t-rate": lineShape, "t-opacity": "M-6 4L6 -4",
    ]
    private static let lineShape = "M-6 0H6"

    /// A mark of a row at each of some places.
    func marks(_ kind: String, at places: [Double], y: Double, _ svg: inout SVGBuilder) {
        guard let shape = Self.shapes[kind] else { return }
        for place in places {
            svg.element(
                "path",
                [
                    "class": .text(kind),
                    "transform": .text("translate(\(SVGPath.place(place)) \(SVGPath.place(y)))"),
                    "d": .text(shape),
                ])
        }
    }

    /// The middles of the buckets in which something was.
    func places(_ counts: [UInt16]) -> [Double] {
        counts.indices.filter { counts[$0] > 0 }.map { (x(bucket: $0) + x(bucket: $0 + 1)) / 2 }
    }

    /// An area over a baseline, in steps; runs of one value are one step.
    func area(_ values: [Double], baseline: Double, scale: Double) -> SVGPath {
        var path = SVGPath()
        var index = 0
        while index < values.count {
            let value = values[index]
            var end = index + 1
            while end < values.count, values[end] == value { end += 1 }
            if value != 0 {
                path.rectangle(
                    x(bucket: index), baseline - value * scale, x(bucket: end) - x(bucket: index), value * scale)
            }
            index = end
        }
        return path
    }

    /// A line in steps, with gaps for missing values.
    func steps(_ values: [Double?], baseline: Double, scale: Double) -> SVGPath {
        var path = SVGPath()
        var last: Double?
        for (index, value) in values.enumerated() {
            if let value, value != last {
                let height = baseline - value * scale
                if last == nil {
                    path.move(x(bucket: index), height)
                } else {
                    path.horizontal(to: x(bucket: index))
                    path.vertical(to: height)
                }
            } else if value == nil, last != nil {
                path.horizontal(to: x(bucket: index))
            }
            last = value
        }
        if last != nil { path.horizontal(to: x(bucket: values.count)) }
        return path
    }

    /// Figures with short gaps filled by the last one before: in these buckets the relay did not come to the room.
    func bridged<Figure>(_ values: [Figure?]) -> [Figure?] {
        let length = 10
        var result = values
        var last: (index: Int, value: Figure)?
        for (index, value) in values.enumerated() {
            guard let value else { continue }
            if let last, index - last.index <= length {
                for gap in (last.index + 1)..<index { result[gap] = last.value }
            }
            last = (index, value)
        }
        if let last, values.count - last.index <= length {
            for gap in (last.index + 1)..<values.count { result[gap] = last.value }
        }
        return result
    }

    /// Returns the top of a row's scale: half more than the limit of most buckets, so that an occasional burst does not
    /// flatten the usual values.
    func usualLargest(_ values: [Double], atLeast least: Double) -> Double {
        let sorted = values.filter { $0 > 0 }.sorted()
        guard !sorted.isEmpty else { return least }
        return max(least, sorted[sorted.count * 19 / 20] * 1.5)
    }

    /// Areas one above the other.
    func stack(
        _ layers: [(kind: String, counts: [UInt16])], baseline: Double, height: Double, largest: Double,
        _ svg: inout SVGBuilder
    ) {
        let scale = height / max(largest, 1)
        var base = [Double](repeating: 0, count: snapshot.bucketCount)
        for (kind, counts) in layers {
            var path = SVGPath()
            var index = 0
            while index < min(counts.count, base.count) {
                let (count, bottom) = (counts[index], base[index])
                var end = index + 1
                while end < min(counts.count, base.count), counts[end] == count, base[end] == bottom { end += 1 }
                if count > 0 {
                    let value = min(Double(count), max(0, largest - bottom))
                    path.rectangle(
                        x(bucket: index), baseline - (bottom + value) * scale, x(bucket: end) - x(bucket: index),
                        value * scale)
                    for place in index..<end { base[place] += value }
                }
                index = end
            }
            if !path.isEmpty { svg.element("path", ["class": .text(kind), "d": .text(path.data)]) }
        }
    }
}

extension SVGPath {
    /// A place as written in transforms.
    static func place(_ value: Double) -> String { NumberText.short(value, 1) }
}
