public import MediaCore

/// Makes a plan of a sequence of views, with transitions: layers move and fade from one view to the next.
///
/// A change may come at any time, also during an earlier one. It begins with exactly the picture on screen at that
/// moment. It does not disturb layers that continue to the place that they were moving to.
public struct CompositionDirector: Sendable {
    /// The time for which ended instructions are kept, for viewers of the past.
    static let memory = MediaTime(value: 60, timescale: 1)
    static let mostInstructions = 256

    public let canvas: VideoDimensions
    /// The style of the next change.
    public var transitions: TransitionStyle
    /// The newest instructions of the last minute, and future ones; the last has no end. It is empty until something is
    /// shown.
    public private(set) var plan: CompositionPlan
    /// The view that is wanted now; nil before the first.
    public private(set) var view: CompositionView?
    /// The layers that the newest transition moves, from the lowest to the highest; the target's layers while nothing
    /// moves.
    private var stage: [StagedLayer] = []
    /// The time of the newest view.
    private var newest: MediaTime?

    public init(canvas: VideoDimensions, transitions: TransitionStyle) {
        self.canvas = canvas
        self.transitions = transitions
        plan = CompositionPlan(canvas: canvas, instructions: [])
    }

    /// The instruction that holds at a time: before all that are kept the earliest of them, before anything was shown
    /// an empty one.
    public func instruction(at time: MediaTime) -> CompositionInstruction {
        plan.instruction(at: time) ?? plan.instructions.first
            ?? CompositionInstruction(timeRange: .all, layers: [])
    }

    /// Shows a view from a time on. The first one appears at once. An equal view changes nothing.
    ///
    /// - Parameter time: A numeric time. A time before that of an earlier call counts as that time.
    public mutating func show(_ view: CompositionView, at time: MediaTime) {
        guard view != self.view else { return }
        self.view = view
        let layers = layers(of: view)
        let start = cut(at: time)
        newest = start

        let duration = MediaTime(inLowestTerms: transitions.duration)
        if !plan.instructions.isEmpty, duration > .zero {
            let transition = Transition(
                from: stage, to: layers, at: start, duration: duration, easing: transitions.easing)
            let range = MediaTimeRange(start: start, end: transition.end)
            if !range.isEmpty {
                append(
                    CompositionInstruction(
                        timeRange: range, background: view.background, layers: transition.layers.map(\.layer),
                        overlays: view.overlays))
                append(steady(view, layers, from: range.end))
                stage = transition.layers
                forget(before: start)
                return
            }
        }
        append(steady(view, layers, from: start))
        stage = layers.enumerated().sorted { ($0.element.zOrder, $0.offset) < ($1.element.zOrder, $1.offset) }.map {
            StagedLayer(layer: $0.element, order: $0.offset, isLeaving: false)
        }
        forget(before: start)
    }

    /// Ends the plan at a time, or nearly so if the time cannot be represented.
    ///
    /// - Returns: The new end.
    private mutating func cut(at time: MediaTime) -> MediaTime {
        var end = time.isNumeric ? time : newest ?? .zero
        if let newest { end = max(end, newest) }
        while let last = plan.instructions.last {
            plan.instructions.removeLast()
            guard last.timeRange.start < end else { continue }
            let range = MediaTimeRange(start: last.timeRange.start, end: end)
            end = range.end
            guard !range.isEmpty else { continue }
            plan.instructions.append(last.trimmed(to: range))
            break
        }
        return end
    }

    /// Adds an instruction. If the last one is equal, it is extended instead.
    private mutating func append(_ instruction: CompositionInstruction) {
        guard var last = plan.instructions.last, !last.containsTweening else {
            plan.instructions.append(instruction)
            return
        }
        let start = last.timeRange.start
        last.timeRange = instruction.timeRange
        guard last == instruction else {
            plan.instructions.append(instruction)
            return
        }
        last.timeRange = MediaTimeRange(start: start, end: instruction.timeRange.end)
        plan.instructions[plan.instructions.count - 1] = last
    }

    private mutating func forget(before time: MediaTime) {
        let oldest = time - Self.memory
        let ended = plan.instructions.prefix { $0.timeRange.end < oldest }.count
        plan.instructions.removeFirst(max(ended, plan.instructions.count - Self.mostInstructions))
    }

    private func steady(
        _ view: CompositionView, _ layers: [CompositionLayer], from start: MediaTime
    ) -> CompositionInstruction {
        let only = layers.count == 1 && view.overlays.isEmpty ? layers.first : nil
        return CompositionInstruction(
            timeRange: MediaTimeRange(start: start, duration: .positiveInfinity), background: view.background,
            layers: layers, overlays: view.overlays,
            passthroughSource: only.flatMap { $0.isUnchanged(on: canvas) ? $0.source : nil })
    }

    /// The layers of a view. A layer that has all of the canvas gets no label, because there is nobody to confuse it
    /// with.
    private func layers(of view: CompositionView) -> [CompositionLayer] {
        guard view.layers.count == 1, view.layers[0].covers(canvas) else { return view.layers }
        var only = view.layers[0]
        only.isDecorated = false
        return [only]
    }
}

extension CompositionInstruction {
    /// The instruction's part in a range.
    fileprivate func trimmed(to range: MediaTimeRange) -> CompositionInstruction {
        var part = self
        part.timeRange = range
        guard containsTweening else { return part }
        for index in part.layers.indices {
            part.layers[index].rectRamps = part.layers[index].rectRamps.compactMap { $0.trimmed(to: range) }
            part.layers[index].opacityRamps = part.layers[index].opacityRamps.compactMap { $0.trimmed(to: range) }
        }
        return part
    }
}

extension MediaTime {
    /// A duration to the nanosecond, in the coarsest timescale that holds it, so that sums with it are as exact as
    /// possible.
    fileprivate init(inLowestTerms duration: Duration) {
        let second: Int64 = 1_000_000_000
        let divisor = greatestCommonDivisor(second, max(duration.nanoseconds, 0))
        self.init(value: duration.nanoseconds / divisor, timescale: Int32(clamping: second / divisor))
    }
}

extension CompositionLayer {
    /// Returns true if a layer leaves nothing of the canvas free that it could cover: the last column and row of an odd
    /// canvas do not count.
    func covers(_ canvas: VideoDimensions) -> Bool {
        rect.contains(PixelRect(x: 0, y: 0, width: canvas.width & ~1, height: canvas.height & ~1))
    }

    /// Returns true if a picture of the canvas's size would be seen unchanged, as the only layer without overlays.
    func isUnchanged(on canvas: VideoDimensions) -> Bool {
        rect == PixelRect(canvas) && opacity == 1 && cornerRadius == 0 && border == nil && !isDecorated
            && !containsTweening && (rotation == nil || rotation == VideoRotation.none)
    }
}
