import MediaCore

/// A request that was answered, what with, and what was seen then: enough to tell whether the answer still holds.
final class RenderedCanvas {
    private struct Seen {
        var id: SourceID
        var source: CompositionSource?
    }

    private(set) var dimensions: VideoDimensions
    private(set) var instruction: CompositionInstruction
    /// The last good picture; nil where there never was one.
    private(set) var picture: PixelBuffer?
    /// How it was answered the last time.
    var origin = ComposedPicture.Origin.rendered
    /// The last call that asked for it.
    var tick = 0
    private var time = MediaTime.invalid
    private var wallClock: Int64?
    private var seen: [Seen] = []
    /// Whether the picture is right until something changes.
    private var isReusable = false

    init(_ request: CompositionRequest) {
        dimensions = request.canvas
        instruction = request.instruction
    }

    /// Whether a request asks for what this one did, at whatever time.
    func matches(_ request: CompositionRequest) -> Bool {
        dimensions == request.canvas && instruction.looksLike(request.instruction)
    }

    /// Whether all that is seen here is something that the other request asks for.
    func showsNothing(beyond request: CompositionRequest) -> Bool {
        picture != nil && dimensions == request.canvas
            && instruction.requiredSources.isSubset(of: request.instruction.requiredSources)
    }

    /// The picture, where rendering it anew would make the same one.
    func reusablePicture(_ inputs: CompositionInputs, at time: MediaTime) -> PixelBuffer? {
        guard isReusable, !instruction.containsTweening || time == self.time else { return nil }
        guard wallClock == inputs.wallClock || !instruction.showsTime else { return nil }
        let isSame = seen.allSatisfy { seen in
            switch (seen.source, inputs.sources[seen.id]) {
            case (nil, nil): true
            case (.some(let before), .some(let now)): before.looksLike(now)
            default: false
            }
        }
        return isSame ? picture : nil
    }

    /// Takes down a picture and what it was made from.
    func keep(
        _ picture: PixelBuffer, for request: CompositionRequest, _ inputs: CompositionInputs, at time: MediaTime,
        isReusable: Bool
    ) {
        self.picture = picture
        self.isReusable = isReusable
        self.time = time
        instruction = request.instruction
        wallClock = inputs.wallClock
        seen.removeAll(keepingCapacity: true)
        guard isReusable else { return }
        for id in request.instruction.requiredSources { seen.append(Seen(id: id, source: inputs.sources[id])) }
    }

    /// Goes on with a picture that is not quite that of the request, for want of a better one.
    func makeDo(with picture: PixelBuffer) {
        self.picture = picture
        isReusable = false
    }
}

extension CompositionInstruction {
    /// Whether two look the same at any one time: only when they hold may differ.
    func looksLike(_ other: CompositionInstruction) -> Bool {
        layers == other.layers && background == other.background && overlays == other.overlays
            && passthroughSource == other.passthroughSource && requiredSources == other.requiredSources
    }

    /// Whether something on it changes with the time of day.
    var showsTime: Bool {
        overlays.contains { overlay in
            if case .clock = overlay.content { true } else { false }
        }
    }
}
