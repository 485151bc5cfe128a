import Compositing
import Conference
import VectorGraphics

/// The composition rows: the ticks, and the instructions of the pictures.
extension TimelineSVG {
    private static let tickHeight = 46.0
    private static let workHeight = 26.0
    private static let viewHeight = 44.0

    func compositionRows(_ svg: inout SVGBuilder, y: Double) -> Double {
        var y = section(
            "Composition",
            legend: [
                ("t-line t-latency", "time to compose"), ("t-deadline", "time there is"), ("t-late", "late"),
                ("t-missed", "left out"), ("t-skipped", "skipped"), ("t-rendered", "rendered"),
                ("t-reused", "unchanged, reused"), ("t-passed", "passed through"), ("t-fell", "failed"),
                ("t-steady", "instruction"), ("t-tween", "moves or fades"), ("t-opacity", "opacity"),
            ], &svg, y: y)
        y = tickRow(&svg, y: y)
        y = workRow(&svg, y: y)
        for view in snapshot.views { y = row(view, &svg, y: y) }
        return y
    }

    // MARK: Ticks

    private func tickRow(_ svg: inout SVGBuilder, y: Double) -> Double {
        let ticks = snapshot.ticks
        let height = Self.tickHeight
        let due = snapshot.tickInterval * 1000
        let largest = max(due * 1.5, min(ticks.slowest.max() ?? 0, due * 4))
        let slow = ticks.slowest.suffix(10).max() ?? 0
        let missed = ticks.missed.total + ticks.skipped.total + ticks.late.total
        let detail = "\(missed) missed · \(TimelineText.milliseconds(slow)) of \(TimelineText.milliseconds(due))"
        rowFrame(
            "Ticks", detail: detail,
            tooltip:
                "\(ticks.composed.total) ticks composed, \(ticks.late.total) of them late, \(ticks.missed.total) left "
                + "out because the one before was not done, \(ticks.skipped.total) skipped by the relay",
            height: height, isOver: false, &svg, y: y)
        let baseline = y + height
        stack(
            [("t-late", ticks.late), ("t-missed", ticks.missed), ("t-skipped", ticks.skipped)], baseline: baseline,
            height: height, largest: 1 / max(snapshot.tickInterval, 0.001) * snapshot.bucketDuration, &svg)
        let scale = (height - 4) / largest
        let line = steps(
            ticks.slowest.map { $0 > 0 ? min($0, largest) : nil }, baseline: baseline, scale: scale)
        svg.element("path", ["class": "t-line t-latency", "d": .text(line.data)])
        svg.element(
            "path",
            [
                "class": "t-deadline",
                "d": .text(
                    "M\(SVGPath.place(Self.left)) \(SVGPath.place(baseline - due * scale))H\(SVGPath.place(x(0)))"),
            ])
        tooltips(&svg, y: y, height: height) { span in
            func sum(_ counts: [UInt16]) -> Int { counts[span.clamped(to: counts.indices)].total }
            let slowest = ticks.slowest[span.clamped(to: ticks.slowest.indices)].max() ?? 0
            guard sum(ticks.taken) + sum(ticks.composed) > 0 else { return nil }
            return "Ticks, \(name(of: span)): \(sum(ticks.composed)) composed within "
                + "\(TimelineText.milliseconds(slowest)) (due after \(TimelineText.milliseconds(due))), "
                + "\(sum(ticks.late)) late, \(sum(ticks.missed)) left out, \(sum(ticks.skipped)) skipped"
        }
        return y + height + 4
    }

    private func workRow(_ svg: inout SVGBuilder, y: Double) -> Double {
        let ticks = snapshot.ticks
        let height = Self.workHeight
        let layers = [
            ("t-rendered", ticks.rendered), ("t-passed", ticks.passedThrough), ("t-reused", ticks.reused),
            ("t-fell", ticks.fellBack),
        ]
        rowFrame(
            "Pictures made", detail: "",
            tooltip:
                "\(ticks.rendered.total) rendered, \(ticks.reused.total) reused, \(ticks.passedThrough.total) passed "
                + "through, \(ticks.fellBack.total) could not be composed",
            height: height, isOver: false, &svg, y: y)
        let sums = ticks.rendered.indices.map { index in layers.reduce(0) { $0 + Double($1.1[index]) } }
        stack(layers, baseline: y + height, height: height - 4, largest: max(sums.max() ?? 0, 4), &svg)
        tooltips(&svg, y: y, height: height) { span in
            func sum(_ counts: [UInt16]) -> Int { counts[span.clamped(to: counts.indices)].total }
            guard layers.contains(where: { sum($0.1) > 0 }) else { return nil }
            return "Pictures made, \(name(of: span)): \(sum(ticks.rendered)) rendered, \(sum(ticks.reused)) reused, "
                + "\(sum(ticks.passedThrough)) passed through, \(sum(ticks.fellBack)) failed"
        }
        return y + height + 4
    }

    // MARK: Instructions

    private func row(_ view: RoomTimelineSnapshot.View, _ svg: inout SVGBuilder, y: Double) -> Double {
        let height = Self.viewHeight
        let names = TimelineText.list(
            view.receivers.map { $0.isPassedThrough == true ? "\($0.name) (packets as they are)" : $0.name }, atMost: 3)
        rowFrame(
            "seen by \(names)",
            detail: view.issues.isEmpty ? "\(view.width)×\(view.height)" : "wrong: \(view.issues[0])",
            tooltip: (["Instructions for \(TimelineText.isolated(view.receivers))"] + view.issues).joined(
                separator: "\n"),
            height: height, isOver: false, &svg, y: y)
        for instruction in view.instructions { draw(instruction, &svg, y: y, height: height) }
        return y + height + 4
    }

    private func draw(
        _ instruction: RoomTimelineSnapshot.Instruction, _ svg: inout SVGBuilder, y: Double, height: Double
    ) {
        let (from, to) = (x(instruction.start), x(instruction.end ?? 1))
        guard to > from else { return }
        let kind =
            instruction.passthrough != nil ? "t-through" : instruction.containsTweening ? "t-tween" : "t-steady"
        svg.element(
            "rect",
            [
                "class": .text(kind), "x": .number(from + 0.5), "y": .number(y + 1),
                "width": .number(max(to - from - 1, 1)), "height": .number(height - 2),
            ])
        for layer in instruction.layers {
            for ramp in layer.opacityRamps { draw(ramp, &svg, y: y + 3, height: height - 6) }
        }
        let room = to - from - 8
        if room > 24 {
            let text = instruction.passthrough.map { "▶ \($0)" } ?? Self.summary(of: instruction)
            svg.text(
                TimelineText.fitted(text, width: room, size: 10.5),
                ["class": "t-block", "x": .number(from + 5), "y": .number(y + 16)])
            let second =
                instruction.passthrough != nil
                ? "passed through" : TimelineText.list(instruction.layers.map(\.source), atMost: 9)
            svg.text(
                TimelineText.fitted(second, width: room, size: 10),
                ["class": "t-block t-mute", "x": .number(from + 5), "y": .number(y + 31)])
        }
        svg.element(
            "rect",
            [
                "class": "t-hit", "x": .number(from), "y": .number(y), "width": .number(to - from),
                "height": .number(height),
            ], title: Self.text(of: instruction))
    }

    private func draw(_ ramp: RoomTimelineSnapshot.Ramp, _ svg: inout SVGBuilder, y: Double, height: Double) {
        let steps = 8
        var path = SVGPath()
        for step in 0...steps {
            let part = Double(step) / Double(steps)
            let place = x(ramp.start + (ramp.end - ramp.start) * part)
            let top = y + height * (1 - min(max(ramp.opacity(atPart: part), 0), 1))
            if step == 0 { path.move(place, top) } else { path.line(place, top) }
        }
        svg.element("path", ["class": "t-opacity", "d": .text(path.data)])
    }

    private static func summary(of instruction: RoomTimelineSnapshot.Instruction) -> String {
        TimelineText.count(instruction.layers.count, "layer")
            + (instruction.overlayCount > 0 ? " + \(TimelineText.count(instruction.overlayCount, "overlay"))" : "")
    }

    /// All of an instruction; of many layers, the first.
    private static func text(of instruction: RoomTimelineSnapshot.Instruction) -> String {
        let span =
            "\(TimelineText.seconds(instruction.start)) to "
            + (instruction.end.map(TimelineText.seconds) ?? "further notice")
        var marks: [String] = []
        if instruction.containsTweening { marks.append("moves or fades") }
        if let source = instruction.passthrough { marks.append("\(TimelineText.isolated(source)) is passed through") }
        let layers = instruction.layers.prefix(25).map { layer in
            let ramps = layer.opacityRamps.map { " opacity \($0.from) → \($0.to) (\($0.easing.rawValue))" }.joined()
            return "\(TimelineText.isolated(layer.source)): \(layer.width)×\(layer.height) at \(layer.x), \(layer.y)"
                + (layer.isMoving ? ", moving" : "") + (layer.opacity < 1 ? ", opacity \(layer.opacity)" : "") + ramps
        }
        return ([([span, summary(of: instruction)] + marks).joined(separator: ", ")] + layers).joined(separator: "\n")
    }
}
