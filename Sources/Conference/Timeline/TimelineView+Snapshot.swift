import Compositing
import MediaCore

extension TimelineView {
    /// - Parameter describe: Returns the owner's name of a source, if it is known.
    func snapshot(describe: (SourceID) -> String) -> RoomTimelineSnapshot.View {
        var view = RoomTimelineSnapshot.View(
            receivers: receivers, width: plan.canvas.width, height: plan.canvas.height)
        let horizon = MediaTimeRange(
            start: now - MediaTime(TimelineScale.length, timescale: 1), end: now + MediaTime(.seconds(1), timescale: 1))
        view.instructions = plan.instructions.filter { $0.timeRange.overlaps(horizon) }.map { instruction in
            snapshot(instruction, describe: describe)
        }
        view.issues = plan.validate().filter { $0.timeRange.overlaps(horizon) || !$0.timeRange.isValid }
            .prefix(Self.maximumIssues).map { issue in
                CompositionIssue(issue.kind, timeRange: fromNow(issue.timeRange)).description(naming: describe)
            }
        return view
    }

    /// The largest number of issues that are kept.
    private static let maximumIssues = 20

    private func fromNow(_ range: MediaTimeRange) -> MediaTimeRange {
        MediaTimeRange(start: range.start - now, duration: range.duration)
    }

    private func snapshot(
        _ instruction: CompositionInstruction, describe: (SourceID) -> String
    ) -> RoomTimelineSnapshot.Instruction {
        var snapshot = RoomTimelineSnapshot.Instruction(
            start: offset(instruction.timeRange.start) ?? -TimelineScale.length.seconds,
            end: offset(instruction.timeRange.end))
        snapshot.containsTweening = instruction.containsTweening
        snapshot.passthrough = instruction.passthroughSource.map(describe)
        snapshot.overlayCount = instruction.overlays.count
        snapshot.layers = instruction.layers.map { layer in
            var result = RoomTimelineSnapshot.Layer(
                source: describe(layer.source), x: layer.rect.x, y: layer.rect.y, width: layer.rect.width,
                height: layer.rect.height, opacity: layer.opacity)
            result.isMoving = !layer.rectRamps.isEmpty
            result.opacityRamps = layer.opacityRamps.compactMap { ramp in
                guard let start = offset(ramp.timeRange.start), let end = offset(ramp.timeRange.end) else { return nil }
                return .init(start: start, end: end, from: ramp.from, to: ramp.to, easing: ramp.easing)
            }
            return result
        }
        return snapshot
    }

    /// Seconds from the snapshot's moment, to the millisecond; nil for a non-numeric time.
    private func offset(_ time: MediaTime) -> Double? {
        guard time.isNumeric else { return nil }
        let seconds = (time - now).seconds
        return seconds.isFinite ? (seconds * 1000).rounded() / 1000 : nil
    }
}

extension RoomTimelineSnapshot.Ramp {
    /// The opacity when a part of the ramp's time, from 0 to 1, has passed.
    public func opacity(atPart part: Double) -> Double {
        let factor = TweenFactor(
            of: MediaTime(seconds: part, timescale: 1000),
            in: MediaTimeRange(start: .zero, end: MediaTime(value: 1, timescale: 1)))
        return .interpolated(from: from, to: to, fraction: easing.eased(factor))
    }
}
