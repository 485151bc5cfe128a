import Compositing
import Conference
import MediaCore
import VectorGraphics

/// The incoming rows: the sources of pictures.
extension TimelineSVG {
    private static let rowHeight = 50.0
    private static let stripHeight = 9.0

    func sourceRows(_ svg: inout SVGBuilder, y: Double) -> Double {
        var y = section(
            "Pictures in",
            legend: [
                ("t-decoded", "decoded"), ("t-dropped", "dropped"), ("t-withheld", "of no use: something is missing"),
                ("t-spared", "left out on purpose"),
                ("t-line t-arrived", "arrived"), ("t-lost", "packets lost"), ("t-keyframe", "keyframe"),
                ("t-request", "keyframe asked for"), ("t-format", "another size"), ("t-playing", "playing"),
                ("t-frozen", "frozen"), ("t-gone", "no picture"), ("t-unseen", "nobody sees it"),
            ], &svg, y: y)
        if snapshot.sources.isEmpty { y = emptyRow("Nobody sends pictures", &svg, y: y) }
        for source in snapshot.sources { y = row(source, &svg, y: y) }
        return y
    }

    private func row(_ source: RoomTimelineSnapshot.Source, _ svg: inout SVGBuilder, y: Double) -> Double {
        let height = Self.rowHeight
        let detail = detail(of: source)
        let title = source.content == .screenShare ? "\(source.person.name) (screen)" : source.person.name
        rowFrame(
            title, detail: detail, tooltip: "\(source.title) (\(source.person.id)): \(detail)", height: height,
            isOver: source.ended != nil, &svg, y: y)
        let strip = y + height - Self.stripHeight
        let baseline = strip - 1
        bands(source, &svg, y: y, height: height - Self.stripHeight)
        let largest = usualLargest(source.decoded.map(Double.init), atLeast: 4)
        let plotHeight = baseline - y - 12
        stack(
            [
                ("t-decoded", source.decoded), ("t-dropped", source.dropped), ("t-withheld", source.withheld),
                ("t-spared", source.skipped),
            ],
            baseline: baseline, height: plotHeight, largest: largest, &svg)
        let arrivals = presence(source.arrived, from: source.began, to: source.ended)
        let arrived = steps(
            arrivals.map { $0.map { min($0, largest) } }, baseline: baseline, scale: plotHeight / largest)
        svg.element("path", ["class": "t-line t-arrived", "d": .text(arrived.data)])
        states(source, &svg, y: strip)
        marks("t-lost", at: places(source.packetsLost), y: y + 7, &svg)
        marks("t-request", at: places(source.keyframeRequests), y: y + 7, &svg)
        marks("t-keyframe", at: places(source.keyframes), y: y + 7, &svg)
        formats(source, &svg, y: y)
        tooltips(&svg, y: y, height: height) { text(of: source, in: $0) }
        return y + height + 4
    }

    /// Returns the present state in a few words.
    private func detail(of source: RoomTimelineSnapshot.Source) -> String {
        if let ended = source.ended { return "left \(TimelineText.seconds(-ended)) ago" }
        let size = source.formats.last.map { "\($0.width)×\($0.height)" } ?? ""
        guard let last = source.states.last else { return "" }
        let since = TimelineText.seconds(-last.start)
        switch last.state {
        case .waiting: return "no picture yet"
        case .playing:
            let second = source.decoded.suffix(21).dropLast()
            return "\((second.total + 1) / 2) fps · \(size)" + (Self.word(source.skipMode).map { " · \($0)" } ?? "")
        case .frozen: return "frozen for \(since)"
        case .gone: return "no picture for \(since)"
        case .unseen: return "not seen · \(size)"
        case .off: return "off"
        }
    }

    /// Returns a word for the decode mode.
    private static func word(_ skipMode: DecodeSkipMode) -> String? {
        switch skipMode {
        case .full: nil
        case .filteredReferences: "less filtered"
        case .referenceFrames: "layers dropped"
        case .keyframes: "keyframes"
        }
    }

    /// Draws the spans in which the picture stood still, over all of the row, with the reason if there is room.
    private func bands(
        _ source: RoomTimelineSnapshot.Source, _ svg: inout SVGBuilder, y: Double, height: Double
    ) {
        for state in source.states where state.state == .frozen || state.state == .gone {
            let (from, to) = (x(state.start), x(state.end ?? 0))
            svg.element(
                "rect",
                [
                    "class": state.state == .frozen ? "t-band" : "t-band t-faint", "x": .number(from), "y": .number(y),
                    "width": .number(max(to - from, 1.5)), "height": .number(height),
                ])
            guard let cause = state.cause else { continue }
            let text = Self.words(cause)
            guard TimelineText.width(text, size: 10.5) + 8 < to - from else { continue }
            svg.text(
                text, ["class": "t-why", "x": .number(from + 4), "y": .number(y + height - 8)])
        }
    }

    private static func words(_ cause: RoomTimelineSnapshot.FreezeCause) -> String {
        switch cause {
        case .nothingArrived: "nothing came"
        case .packetsLost: "packets lost"
        case .undecodable: "undecodable"
        case .relayBusy: "relay busy"
        }
    }

    private func states(_ source: RoomTimelineSnapshot.Source, _ svg: inout SVGBuilder, y: Double) {
        for state in source.states {
            let (from, to) = (x(state.start), x(state.end ?? 0))
            guard to > from else { continue }
            svg.element(
                "rect",
                [
                    "class": .text(Self.kind(state.state)), "x": .number(from), "y": .number(y),
                    "width": .number(max(to - from, 1.5)), "height": .number(Self.stripHeight),
                ])
        }
    }

    private static func kind(_ state: RoomTimelineSnapshot.SourceState) -> String {
        switch state {
        case .waiting: "t-waiting"
        case .playing: "t-playing"
        case .frozen: "t-frozen"
        case .gone: "t-gone"
        case .unseen: "t-unseen"
        case .off: "t-off"
        }
    }

    private func formats(_ source: RoomTimelineSnapshot.Source, _ svg: inout SVGBuilder, y: Double) {
        for format in source.formats where format.time > -60 {
            let place = x(format.time)
            marks("t-format", at: [place], y: y + 7, &svg)
            let text = "\(format.width)×\(format.height)"
            let isLate = place + TimelineText.width(text, size: 10) + 6 > Self.right
            svg.text(
                text,
                [
                    "class": isLate ? "t-size t-end" : "t-size", "x": .number(place + (isLate ? -5 : 5)),
                    "y": .number(y + 10),
                ])
        }
    }

    private func text(of source: RoomTimelineSnapshot.Source, in span: Range<Int>) -> String? {
        let (start, end) = (snapshot.start(ofBucket: span.lowerBound), snapshot.start(ofBucket: span.upperBound))
        guard end > source.began, start < source.ended ?? 1 else { return nil }
        func sum(_ counts: [UInt16]) -> Int { counts[span.clamped(to: counts.indices)].total }
        var parts = [
            TimelineText.count(sum(source.arrived), "frame") + " arrived", "\(sum(source.decoded)) decoded",
            "\(sum(source.dropped)) dropped", "\(sum(source.withheld)) of no use",
            "\(sum(source.skipped)) left out on purpose",
            TimelineText.count(sum(source.packetsLost), "packet") + " lost",
        ]
        let (keyframes, requests) = (sum(source.keyframes), sum(source.keyframeRequests))
        if keyframes + requests > 0 {
            parts.append("\(TimelineText.count(keyframes, "keyframe")), \(requests) asked for")
        }
        for state in source.states where state.start < end && (state.end ?? 1) > start && state.state != .playing {
            parts.append(
                "\(state.state.rawValue) \(TimelineText.span(state.start, state.end))"
                    + (state.cause.map { " (\(source.explanation(of: $0)))" } ?? ""))
        }
        for format in source.formats where (start..<end).contains(format.time) {
            parts.append("now \(format.width)×\(format.height)")
        }
        return "\(source.title), \(name(of: span)): \(parts.joined(separator: ", "))"
    }

    /// Returns the figures of those buckets in which the row existed.
    func presence(_ counts: [UInt16], from began: Double, to ended: Double?) -> [Double?] {
        counts.indices.map { index in
            snapshot.start(ofBucket: index + 1) > began && snapshot.start(ofBucket: index) < ended ?? 1
                ? Double(counts[index]) : nil
        }
    }

    /// A placeholder row for a missing source.
    func emptyRow(_ text: String, _ svg: inout SVGBuilder, y: Double) -> Double {
        svg.text(text, ["class": "t-detail", "x": .number(Self.left + 6), "y": .number(y + 12)])
        return y + 20
    }
}
