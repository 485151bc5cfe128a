import Conference
import VectorGraphics

/// The outgoing rows: one for each encoder, with all of its receivers.
extension TimelineSVG {
    private static let encoderHeight = 54.0

    func encoderRows(_ svg: inout SVGBuilder, y: Double) -> Double {
        var y = section(
            "Pictures out",
            legend: [
                ("t-encoded", "encoded"), ("t-missed", "left out"), ("t-rate", "target bitrate"),
                ("t-waiting-network", "waits for the network"), ("t-keyframe", "keyframe"),
                ("t-request", "keyframe asked for"),
            ], &svg, y: y)
        if snapshot.encoders.isEmpty { y = emptyRow("Nobody gets pictures", &svg, y: y) }
        for encoder in snapshot.encoders { y = row(encoder, &svg, y: y) }
        return y
    }

    private func row(_ encoder: RoomTimelineSnapshot.Encoder, _ svg: inout SVGBuilder, y: Double) -> Double {
        let height = Self.encoderHeight
        let framesPerSecond = (encoder.encoded.suffix(21).dropLast().total + 1) / 2
        let names = encoder.members.map { TimelineText.isolated($0.name) }.joined(separator: ", ")
        let rate = encoder.targetBitRate.last { $0 != nil }?.map(TimelineText.rate(kilobits:)) ?? ""
        let detail =
            encoder.ended.map { "over \(TimelineText.seconds(-$0)) ago" }
            ?? "\(rate) · \(encoder.width)×\(encoder.height) · \(framesPerSecond) fps"
        rowFrame(
            "to \(TimelineText.list(encoder.members.map(\.name), atMost: 3))", detail: detail,
            tooltip:
                "Encoder \(encoder.id) for \(names): " + detail + explanations(encoder),
            height: height, isOver: encoder.ended != nil, &svg, y: y)
        let strip = y + height - 5
        let perBucket = Double(max(encoder.maximumFrameRate, 1)) * snapshot.bucketDuration
        let sums = zip(encoder.encoded, encoder.leftOut).map { Double($0) + Double($1) }
        stack(
            [("t-encoded", encoder.encoded), ("t-missed", encoder.leftOut)], baseline: strip, height: height - 22,
            largest: usualLargest(sums, atLeast: perBucket), &svg)
        let waiting = area(encoder.waiting.map { $0 > 0 ? 1 : 0 }, baseline: y + height, scale: 5)
        if !waiting.isEmpty { svg.element("path", ["class": "t-waiting-network", "d": .text(waiting.data)]) }
        rateLine(encoder, &svg, y: y + 12, height: height - 19)
        marks("t-request", at: encoder.keyframeRequests.map { x($0.time) }, y: y + 6, &svg)
        marks("t-keyframe", at: places(encoder.keyframes), y: y + 6, &svg)
        tooltips(&svg, y: y, height: height) { text(of: encoder, in: $0) }
        return y + height + 4
    }

    /// Returns an explanation for each member, a line each.
    private func explanations(_ encoder: RoomTimelineSnapshot.Encoder) -> String {
        zip(encoder.members, encoder.explanations).filter { !$1.isEmpty }
            .map { "\n\(TimelineText.isolated($0.name)): \($1)" }.joined()
    }

    private func rateLine(
        _ encoder: RoomTimelineSnapshot.Encoder, _ svg: inout SVGBuilder, y: Double, height: Double
    ) {
        guard let largest = encoder.targetBitRate.compactMap(\.self).max(), largest > 0 else { return }
        let line = steps(
            bridged(encoder.targetBitRate).map { $0.map(Double.init) }, baseline: y + height,
            scale: height / Double(largest))
        svg.element("path", ["class": "t-rate", "d": .text(line.data)])
        svg.text(
            TimelineText.rate(kilobits: largest),
            ["class": "t-scale", "x": .number(Self.right + 6), "y": .number(y + 4)])
    }

    private func text(of encoder: RoomTimelineSnapshot.Encoder, in span: Range<Int>) -> String? {
        let rates = encoder.targetBitRate[span.clamped(to: encoder.targetBitRate.indices)].compactMap(\.self)
        guard let lowest = rates.min(), let highest = rates.max() else { return nil }
        func sum(_ counts: [UInt16]) -> Int { counts[span.clamped(to: counts.indices)].total }
        let rate =
            lowest == highest
            ? TimelineText.rate(kilobits: lowest)
            : "\(TimelineText.rate(kilobits: lowest)) to \(TimelineText.rate(kilobits: highest))"
        var parts = [
            "target \(rate)", "\(sum(encoder.encoded)) encoded", "\(sum(encoder.leftOut)) left out",
            TimelineText.count(sum(encoder.keyframes), "keyframe"),
        ]
        if sum(encoder.waiting) > 0 { parts.append("waited for the network at \(sum(encoder.waiting)) ticks") }
        let (start, end) = (snapshot.start(ofBucket: span.lowerBound), snapshot.start(ofBucket: span.upperBound))
        for request in encoder.keyframeRequests where (start..<end).contains(request.time) {
            parts.append("\(TimelineText.isolated(request.name)) asked for a keyframe")
        }
        return "To \(TimelineText.isolated(encoder.members)), \(name(of: span)): \(parts.joined(separator: ", "))"
    }
}
