public import MediaCore
import PixelTransfer

/// Makes the pictures of each tick, and calls a compositor only when there is something to compose.
///
/// A source that is shown unchanged on all of a canvas is returned itself, a picture in which nothing has changed is
/// returned again, and equal requests share a picture. When a picture cannot be made, the last good one is returned:
/// that of the same request, or the newest of its size that shows only sources of the request, so that hidden people
/// stay hidden; or plain background.
///
/// In steady state nothing is allocated here. A renderer belongs to one caller at a time.
public final class CompositionRenderer {
    /// Counts of the renderer's work since it was made.
    public struct Statistics: Hashable, Sendable {
        /// Pictures rendered by the compositor.
        public var renders = 0
        /// Pictures that were there already, with nothing changed, and were handed out again.
        public var reuses = 0
        /// Pictures of sources that were handed out unchanged.
        public var passthroughs = 0
        /// Pictures that could not be rendered, cancelled ones among them; another one stood in for each.
        public var fallbacks = 0
        /// Pictures that were not rendered because that was cancelled.
        public var cancellations = 0
        /// Sources' pictures converted because the compositor does not accept their format.
        public var conversions = 0
        /// Sources' pictures that could not be converted; their sources were shown without a picture.
        public var unusablePictures = 0
        /// Pictures allocated for results. Stands still in steady state.
        public var pictureAllocations = 0

        public init() {}
    }

    /// The colour of every returned picture: BT.601 in limited range, as browsers' cameras send and as placeholders and
    /// labels are drawn. Encoders must signal it, because Chromium takes unspecified video for BT.709.
    public static let canvasColour = ColourDescription.bt601

    private let compositor: any VideoCompositing
    private let context: RenderContext
    private var counts = Statistics()
    private var tick = 0
    /// The canvases of the call before and of this one, by request; nil if one was taken over by this call.
    private var previous: [RenderedCanvas?] = []
    private var current: [RenderedCanvas] = []

    public init(compositor: any VideoCompositing = LayerCompositor()) {
        self.compositor = compositor
        context = RenderContext(compositor)
    }

    public var statistics: Statistics {
        var statistics = counts
        statistics.conversions = context.converter.conversionCount
        statistics.unusablePictures = context.converter.failureCount
        statistics.pictureAllocations = context.allocationCount
        return statistics
    }

    /// Makes a picture for each request, in their order, as they are at `time`.
    public func render(
        _ requests: [CompositionRequest], inputs: CompositionInputs, at time: MediaTime,
        cancellation: CompositionCancellation? = nil
    ) -> [ComposedPicture] {
        var results: [ComposedPicture] = []
        results.reserveCapacity(requests.count)
        render(requests, inputs: inputs, at: time, cancellation: cancellation, into: &results)
        return results
    }

    /// Makes a picture for each request, in their order, for the time `time`.
    ///
    /// - Parameter results: Receives the pictures in place of its content. If it is used again, it need not grow.
    public func render(
        _ requests: [CompositionRequest], inputs: CompositionInputs, at time: MediaTime,
        cancellation: CompositionCancellation? = nil, into results: inout [ComposedPicture]
    ) {
        tick += 1
        context.begin(inputs, cancellation)
        results.removeAll(keepingCapacity: true)
        for (index, request) in requests.enumerated() {
            results.append(answer(request, index: index, inputs, at: time))
        }
        context.end()
        previous.removeAll(keepingCapacity: true)
        for canvas in current { previous.append(canvas) }
        current.removeAll(keepingCapacity: true)
    }

    private func answer(
        _ request: CompositionRequest, index: Int, _ inputs: CompositionInputs, at time: MediaTime
    ) -> ComposedPicture {
        let canvas = canvas(for: request, index: index)
        if canvas.tick == tick, let picture = canvas.picture {
            // Asked for twice in this call.
            counts.reuses += 1
            return ComposedPicture(picture: picture, origin: canvas.origin == .rendered ? .reused : canvas.origin)
        }
        canvas.tick = tick
        let answer = freshAnswer(to: request, on: canvas, inputs, at: time)
        canvas.origin = answer.origin
        return answer
    }

    private func freshAnswer(
        to request: CompositionRequest, on canvas: RenderedCanvas, _ inputs: CompositionInputs, at time: MediaTime
    ) -> ComposedPicture {
        if let source = request.instruction.passthroughSource,
            let picture = inputs.passthroughPicture(of: source, for: request)
        {
            counts.passthroughs += 1
            canvas.keep(picture, for: request, inputs, at: time, isReusable: false)
            return ComposedPicture(picture: picture, origin: .passthrough(source))
        }
        if let picture = canvas.reusablePicture(inputs, at: time) {
            counts.reuses += 1
            return ComposedPicture(picture: picture, origin: .reused)
        }
        do throws(VideoCompositingError) {
            let picture = try rendered(request, at: time)
            counts.renders += 1
            canvas.keep(picture, for: request, inputs, at: time, isReusable: !context.isIncomplete)
            return ComposedPicture(picture: picture, origin: .rendered)
        } catch {
            counts.fallbacks += 1
            if error == .cancelled { counts.cancellations += 1 }
            let picture = canvas.picture ?? lastGoodPicture(for: request) ?? plainPicture(for: request)
            canvas.makeDo(with: picture)
            return ComposedPicture(picture: picture, origin: .fallback(error))
        }
    }

    private func rendered(
        _ request: CompositionRequest, at time: MediaTime
    ) throws(VideoCompositingError) -> PixelBuffer {
        guard !context.isCancelled else { throw .cancelled }
        context.isIncomplete = false
        let dimensions = Self.canvasDimensions(request)
        let picture = try compositor.render(
            VideoCompositionRequest(
                canvas: dimensions, time: time, instruction: request.instruction, tick: tick, context: context))
        guard picture.dimensions == dimensions else {
            throw .failed(reason: "it made a picture of \(picture.dimensions) for a canvas of \(dimensions)")
        }
        return picture
    }

    /// The state of a request: from this call, else from the last one, in which it is mostly at the same index.
    private func canvas(for request: CompositionRequest, index: Int) -> RenderedCanvas {
        if let known = current.first(where: { $0.matches(request) }) { return take(known) }
        if index < previous.count, let known = previous[index], known.matches(request) {
            previous[index] = nil
            return take(known)
        }
        if let place = previous.firstIndex(where: { $0?.matches(request) ?? false }), let known = previous[place] {
            previous[place] = nil
            return take(known)
        }
        return take(RenderedCanvas(request))
    }

    private func take(_ canvas: RenderedCanvas) -> RenderedCanvas {
        current.append(canvas)
        return canvas
    }

    /// The newest picture of the request's size on which there is nothing that the request does not ask for.
    private func lastGoodPicture(for request: CompositionRequest) -> PixelBuffer? {
        let fitting = current.first { $0.showsNothing(beyond: request) }
        return (fitting ?? previous.lazy.compactMap { $0 }.first { $0.showsNothing(beyond: request) })?.picture
    }

    /// The background of a request, or only its plain colour.
    private func plainPicture(for request: CompositionRequest) -> PixelBuffer {
        var picture = MutablePixelBuffer(format: .i420, dimensions: Self.canvasDimensions(request))
        let colour = request.instruction.background?.plainColour ?? CompositionBackground.standardColour
        picture.attachments.colour = Self.canvasColour
        picture.withI420Region { $0.fill(PixelRect($0.dimensions), with: colour) }
        return picture.freeze()
    }

    private static func canvasDimensions(_ request: CompositionRequest) -> VideoDimensions {
        VideoDimensions(width: max(2, request.canvas.width), height: max(2, request.canvas.height))
    }
}

extension CompositionInputs {
    /// The source's picture if it can be returned unchanged: it has the canvas's size and colour and square samples,
    /// and is upright, planar and fresh.
    fileprivate func passthroughPicture(of source: SourceID, for request: CompositionRequest) -> PixelBuffer? {
        guard case .picture(let picture, let rotation, false) = sources[source]?.content, picture.format == .i420,
            picture.dimensions == request.canvas, picture.attachments.pixelAspectRatio.shownSampleShape == .square,
            ColourConversion(from: picture.attachments.colour, to: CompositionRenderer.canvasColour) == nil
        else { return nil }
        let layer = request.instruction.layers.first { $0.source == source }
        return (layer?.rotation ?? rotation) == .none ? picture : nil
    }
}

extension CompositionBackground {
    static let standardColour = YCbCrColour(y: 24, u: 128, v: 128)

    /// The colour; nil of an image.
    var plainColour: YCbCrColour? {
        if case .colour(let colour) = self { colour } else { nil }
    }
}
