public import MediaCore

/// Instructions for a canvas, one after the other in time.
public struct CompositionPlan: Hashable, Sendable {
    public var canvas: VideoDimensions
    /// The instructions in order of time; the last one may have no end.
    public var instructions: [CompositionInstruction]

    public init(canvas: VideoDimensions, instructions: [CompositionInstruction]) {
        self.canvas = canvas
        self.instructions = instructions
    }

    /// The instruction that holds at a time.
    public func instruction(at time: MediaTime) -> CompositionInstruction? {
        instructions.last { $0.timeRange.contains(time) }
    }
}
