import MediaCore

/// An answered request with its sources and their contents, from which it follows whether the answer is still valid.
final class RenderedCanvas {
    private struct Seen {
        var id: SourceID
        var source: CompositionSource?
    }

    private(set) var dimensions: VideoDimensions
    private(set) var instruction: CompositionInstruction
    /// The last good picture; nil if there never was one.
    private(set) var picture: PixelBuffer?
    /// The origin of the last answer.
    var origin = ComposedPicture.Origin.rendered
    /// The last call that asked for it.
    var tick = 0
    private var time = MediaTime.invalid
    private var wallClock: Int64?
    private var seen: [Seen] = []
    /// True if the picture stays right until something changes.
    private var isReusable = false

    init(_ request: CompositionRequest) {
        dimensions = request.canvas
        instruction = request.instruction
    }

    /// Returns true if a request asks for the same as this one, at any time.
    func matches(_ request: CompositionRequest) -> Bool {
        dimensions == request.canvas && instruction.looksLike(request.instruction)
    }

    /// Returns true if the other request asks for everything that is visible here.
    func showsNothing(beyond request: CompositionRequest) -> Bool {
        picture != nil && dimensions == request.canvas
            && instruction.requiredSources.isSubset(of: request.instruction.requiredSources)
    }

    /// The picture, if rendering it again would give the same one.
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

    /// Stores a picture and its inputs.
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

    /// Uses a picture that differs slightly from that of the request, because there is no better one.
    func makeDo(with picture: PixelBuffer) {
        self.picture = picture
        isReusable = false
    }
}

extension CompositionInstruction {
    /// Returns true if two instructions look the same at every time; their time ranges may differ.
    func looksLike(_ other: CompositionInstruction) -> Bool {
        layers == other.layers && background == other.background && overlays == other.overlays
            && passthroughSource == other.passthroughSource && requiredSources == other.requiredSources
    }

    /// True if the content depends on the time of day.
    var showsTime: Bool {
        overlays.contains { overlay in
            if case .clock = overlay.content { true } else { false }
        }
    }
}
