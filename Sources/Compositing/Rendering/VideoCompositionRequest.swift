public import MediaCore

/// One picture for a compositor to render. Valid until the compositor's `render` returns.
public struct VideoCompositionRequest {
    /// The size of the picture; both sides at least 2.
    public let canvas: VideoDimensions
    /// The time that is shown: ramps are evaluated there.
    public let time: MediaTime
    public let instruction: CompositionInstruction
    /// The number of the renderer's call. Requests of one tick see the same pictures, so intermediate results, such as
    /// a scaled picture, can be shared.
    public let tick: Int
    private let context: RenderContext

    init(
        canvas: VideoDimensions, time: MediaTime, instruction: CompositionInstruction, tick: Int, context: RenderContext
    ) {
        self.canvas = canvas
        self.time = time
        self.instruction = instruction
        self.tick = tick
        self.context = context
    }

    /// The time of day, in seconds since 1970 (Unix time); nil if it is not known.
    public var wallClock: Int64? { context.inputs.wallClock }

    /// The content of a source, its picture as `sourceAttributes` demands; nil if there is none or the instruction does
    /// not require the source.
    public func source(_ id: SourceID) -> CompositionSource? {
        guard instruction.requiredSources.contains(id) else { return nil }
        return context.source(id)
    }

    /// A picture to write: of the canvas's size, as `destinationAttributes` demands, with undefined contents, for
    /// samples in `CompositionRenderer.canvasColour`. It comes from a pool.
    public func makeDestination() -> MutablePixelBuffer { context.makeDestination(canvas) }

    /// True if the picture is no longer needed. Check it regularly; then `render` throws `cancelled`.
    public var isCancelled: Bool { context.isCancelled }

    /// Marks the picture as incomplete, such as without a label for which there was no time: the next call renders it
    /// again although nothing else changed.
    public func markIncomplete() { context.isIncomplete = true }
}

/// The state that the requests of one call share.
final class RenderContext {
    var inputs = CompositionInputs(sources: [:])
    var cancellation: CompositionCancellation?
    var isIncomplete = false
    private(set) var converter: SourceConverter
    private var destinations: PictureMemory

    init(_ compositor: any VideoCompositing) {
        converter = SourceConverter(attributes: compositor.sourceAttributes)
        destinations = PictureMemory(attributes: compositor.destinationAttributes)
    }

    var isCancelled: Bool { cancellation?.isCancelled ?? false }
    /// Pictures allocated by pools.
    var allocationCount: Int { destinations.allocationCount }

    func makeDestination(_ dimensions: VideoDimensions) -> MutablePixelBuffer {
        var picture = destinations.makePicture(dimensions)
        picture.attachments.colour = CompositionRenderer.canvasColour
        return picture
    }

    func source(_ id: SourceID) -> CompositionSource? {
        guard var source = inputs.sources[id] else { return nil }
        guard case .picture(let picture, let rotation, let isStale) = source.content,
            !converter.attributes.isSatisfied(by: picture)
        else { return source }
        if let converted = converter.convert(picture, of: id) {
            source.content = .picture(converted, rotation: rotation, isStale: isStale)
        } else {
            source.content = .placeholder()
        }
        return source
    }

    func begin(_ inputs: CompositionInputs, _ cancellation: CompositionCancellation?) {
        self.inputs = inputs
        self.cancellation = cancellation
    }

    /// Ends a call: releases its pictures and unused conversions.
    func end() {
        inputs.sources = [:]
        cancellation = nil
        converter.endPass()
    }
}
