public import MediaCore

/// One picture for a compositor to render. Valid until the compositor's `render` returns.
public struct VideoCompositionRequest {
    /// The size of the picture; both sides at least 2.
    public let canvas: VideoDimensions
    /// The time that is shown: ramps are evaluated there.
    public let time: MediaTime
    public let instruction: CompositionInstruction
    /// Which call of the renderer this belongs to. Requests of one tick see the same pictures, so that what is made for
    /// one of them, such as a scaled picture, is good for the others.
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

    /// The time of day, in seconds since 1970 (Unix time); nil where it is not known.
    public var wallClock: Int64? { context.inputs.wallClock }

    /// What a source shows, its picture as the compositor's `sourceAttributes` say; nil where there is nothing of it or
    /// the instruction does not name it among its required sources.
    public func source(_ id: SourceID) -> CompositionSource? {
        guard instruction.requiredSources.contains(id) else { return nil }
        return context.source(id)
    }

    /// A picture to write, of the canvas's size and as the compositor's `destinationAttributes` say, with undefined
    /// contents, for samples in `CompositionRenderer.canvasColour`. It comes from a pool.
    public func makeDestination() -> MutablePixelBuffer { context.makeDestination(canvas) }

    /// Whether the picture is not wanted any more. To be looked at now and then; then `render` throws `cancelled`.
    public var isCancelled: Bool { context.isCancelled }

    /// Says that the picture lacks something that will be there the next time, such as a label that there was no time
    /// for: the next call renders it anew though nothing else may have changed.
    public func markIncomplete() { context.isIncomplete = true }
}

/// What the requests of one call have in common.
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

    /// Begins a call.
    func begin(_ inputs: CompositionInputs, _ cancellation: CompositionCancellation?) {
        self.inputs = inputs
        self.cancellation = cancellation
    }

    /// Ends a call: lets go of what was lent for it, and of conversions that it did not need.
    func end() {
        inputs.sources = [:]
        cancellation = nil
        converter.endPass()
    }
}
