import AllocationCounter
import MediaCore
import MediaFixtures
import PixelTransfer
import Testing

@testable import Compositing

@Suite("The renderer")
struct CompositionRendererTests {
    private let canvas = VideoDimensions(width: 64, height: 36)
    private let red = solidPicture(.red, 64, 36)
    private let blue = solidPicture(.blue, 64, 36)

    private func passthrough(_ source: SourceID, _ size: VideoDimensions) -> CompositionRequest {
        let layer = CompositionLayer(source: source, rect: PixelRect(size), isDecorated: false)
        return CompositionRequest(
            canvas: size,
            instruction: CompositionInstruction(timeRange: .all, layers: [layer], passthroughSource: source))
    }

    private func fading(_ source: SourceID) -> CompositionRequest {
        let ramp = Ramp(
            timeRange: MediaTimeRange(start: .zero, duration: MediaTime(value: 1, timescale: 1)), from: 0.0, to: 1)
        let layer = CompositionLayer(source: source, rect: PixelRect(canvas), opacityRamps: [ramp])
        return CompositionRequest(canvas: canvas, layers: [layer])
    }

    // MARK: Pass-through

    @Test("a source that passes through is handed out in its own memory")
    func passesThrough() {
        let renderer = CompositionRenderer()
        let composed = renderer.render(passthrough(1, canvas), source(1, red))
        #expect(composed.picture === red)
        #expect(composed.origin == .passthrough(1))
        #expect(renderer.statistics.passthroughs == 1 && renderer.statistics.renders == 0)
    }

    @Test("a source of another size or format, turned, stale or without a picture is composed instead")
    func doesNotPassThrough() {
        let large = VideoDimensions(width: 128, height: 72)
        let contents: [TileContent] = [
            .picture(solidPicture(.red, 128, 72), isStale: false),
            .picture(solidPicture(.red, 64, 36, format: .nv12), isStale: false),
            .picture(red, rotation: .rotate180, isStale: false), .picture(red, isStale: true), .placeholder(),
        ]
        for content in contents {
            let renderer = CompositionRenderer()
            let composed = renderer.render(
                passthrough(1, canvas), CompositionSource(id: 1, name: "Ada", content: content))
            #expect(composed.origin == .rendered)
            #expect(composed.picture.dimensions == canvas && composed.picture.format == .i420)
        }
        let composed = CompositionRenderer().render(passthrough(1, large), source(1, red))
        #expect(composed.origin == .rendered && composed.picture.dimensions == large)
    }

    @Test("a source whose samples are not square is composed in its own shape", arguments: [false, true])
    func longSamples(isWhole: Bool) {
        // 4:3 in samples, 16:9 as shown; or 16:9 in samples, and wider as shown.
        let size = isWhole ? canvas : VideoDimensions(width: 48, height: 36)
        var picture = MutablePixelBuffer(format: .i420, dimensions: size)
        picture.attachments.pixelAspectRatio = VideoDimensions(width: 4, height: 3)
        picture.withI420Region {
            $0.fill(PixelRect($0.dimensions), with: YCbCrColour(y: Colour.red.y, u: Colour.red.u, v: Colour.red.v))
        }
        let composed = CompositionRenderer().render(passthrough(1, canvas), source(1, picture.freeze()))
        #expect(composed.origin == .rendered)
        #expect(composed.picture.colour(x: 2, y: 18) == .red && composed.picture.colour(x: 61, y: 18) == .red)
        #expect(composed.picture.colour(x: 32, y: 1) == (isWhole ? .bar : .red))
    }

    // MARK: Reuse

    @Test("a static plan renders once")
    func rendersOnce() {
        let renderer = CompositionRenderer(compositor: ScriptedCompositor())
        let request = CompositionRequest(grid: [1, 2], canvas: canvas)
        let first = renderer.render(request, source(1, red), source(2, blue))
        #expect(first.origin == .rendered)
        for frame in 1..<100 {
            let time = MediaTime(value: Int64(frame), timescale: 30)
            let composed = renderer.render(request, source(1, red), source(2, blue), at: time)
            #expect(composed.origin == .reused && composed.picture === first.picture)
        }
        #expect(renderer.statistics.renders == 1 && renderer.statistics.reuses == 99)
    }

    @Test("an instruction that follows and looks the same needs no other picture")
    func nextInstruction() {
        let renderer = CompositionRenderer(compositor: ScriptedCompositor())
        var request = CompositionRequest(grid: [1], canvas: canvas)
        let first = renderer.render(request, source(1, red))
        let second = MediaTime(value: 1, timescale: 1)
        request.instruction.timeRange = MediaTimeRange(start: second, duration: .positiveInfinity)
        #expect(renderer.render(request, source(1, red), at: second).picture === first.picture)
    }

    @Test("while something changes over time each time has its own picture, and one time has one")
    func tweening() {
        let renderer = CompositionRenderer(compositor: ScriptedCompositor())
        for frame in 0..<5 {
            let time = MediaTime(value: Int64(frame), timescale: 30)
            #expect(renderer.render(fading(1), source(1, red), at: time).origin == .rendered)
            #expect(renderer.render(fading(1), source(1, red), at: time).origin == .reused)
        }
    }

    @Test("a picture is rendered again when a required source changes, and not for others")
    func change() {
        let renderer = CompositionRenderer(compositor: ScriptedCompositor())
        let request = CompositionRequest(grid: [1], canvas: canvas)
        var ada = source(1, red)
        #expect(renderer.render(request, ada, source(2, red)).origin == .rendered)
        #expect(renderer.render(request, ada, source(2, blue)).origin == .reused)
        #expect(renderer.render(request, ada).origin == .reused)
        ada.content = .picture(blue, isStale: false)
        #expect(renderer.render(request, ada).origin == .rendered)
        ada.decoration = TileDecoration(isSpeaking: true)
        #expect(renderer.render(request, ada).origin == .rendered)
        ada.name = "Ben"
        #expect(renderer.render(request, ada).origin == .rendered)
        #expect(renderer.render(request, ada).origin == .reused)
    }

    @Test("a picture that the compositor calls incomplete is rendered again")
    func incomplete() {
        let compositor = ScriptedCompositor()
        let renderer = CompositionRenderer(compositor: compositor)
        let request = CompositionRequest(grid: [1], canvas: canvas)
        compositor.isIncomplete = true
        #expect(renderer.render(request, source(1, red)).origin == .rendered)
        compositor.isIncomplete = false
        #expect(renderer.render(request, source(1, red)).origin == .rendered)
        #expect(renderer.render(request, source(1, red)).origin == .reused)
    }

    @Test("a picture with a clock is reused until the second has passed, one without whatever the time")
    func clock() {
        let renderer = CompositionRenderer(compositor: ScriptedCompositor())
        for hasClock in [false, true] {
            var request = CompositionRequest(grid: [1], canvas: canvas)
            if hasClock {
                request.instruction.overlays = [CompositionOverlay(.clock(utcOffset: 0), anchor: .top, height: 0.2)]
            }
            let origins = [Int64(1000), 1000, 1001].map { second -> ComposedPicture.Origin in
                let inputs = CompositionInputs(sources: sources(source(1, red)), wallClock: second)
                return renderer.render([request], inputs: inputs, at: .zero)[0].origin
            }
            #expect(origins == [.rendered, .reused, hasClock ? .rendered : .reused])
        }
    }

    @Test("requests in another order, and such as come and go, keep their pictures")
    func order() {
        let renderer = CompositionRenderer(compositor: ScriptedCompositor())
        let (first, second) = (
            CompositionRequest(grid: [1], canvas: canvas), CompositionRequest(grid: [2], canvas: canvas)
        )
        let inputs = CompositionInputs(sources: sources(source(1, red), source(2, blue)))
        let before = renderer.render([first, second], inputs: inputs, at: .zero)
        let swapped = renderer.render([second, first], inputs: inputs, at: .zero)
        #expect(swapped[0].picture === before[1].picture && swapped[1].picture === before[0].picture)
        let twice = renderer.render([first, first, second], inputs: inputs, at: .zero)
        #expect(twice.allSatisfy { $0.origin == .reused } && twice[0].picture === twice[1].picture)
        _ = renderer.render([second], inputs: inputs, at: .zero)
        #expect(renderer.render([second], inputs: inputs, at: .zero)[0].origin == .reused)
        #expect(renderer.statistics.renders == 2)
    }

    // MARK: Formats

    @Test("pictures of formats that the compositor does not accept are converted, each once")
    func conversion() {
        let compositor = ScriptedCompositor(formats: [.bgra])
        let renderer = CompositionRenderer(compositor: compositor)
        let requests = [
            CompositionRequest(grid: [1], canvas: canvas), CompositionRequest(grid: [1, 2], canvas: canvas),
        ]
        let inputs = CompositionInputs(sources: sources(source(1, red), source(2, blue)))
        _ = renderer.render(requests, inputs: inputs, at: .zero)
        #expect(compositor.formats == [.bgra, .bgra, .bgra])
        #expect(renderer.statistics.conversions == 2)
    }

    @Test("a picture that cannot be converted leaves its source without one, and the others as they are")
    func unusable() {
        let renderer = CompositionRenderer()
        let hostile = solidPicture(.red, 40_000, 2, format: .nv12)
        let request = CompositionRequest(grid: [1, 2], canvas: VideoDimensions(width: 128, height: 36))
        let composed = renderer.render(request, source(1, hostile), source(2, blue))
        #expect(composed.origin == .rendered)
        #expect(composed.picture.isFilled(request.instruction.layers[1].rect, with: .blue))
        #expect(renderer.statistics.unusablePictures == 1)
    }

    @Test("a source that the instruction does not require is not handed out")
    func required() {
        let renderer = CompositionRenderer(compositor: ScriptedCompositor())
        var request = CompositionRequest(grid: [1, 2], canvas: canvas)
        request.instruction.requiredSources = [1]
        #expect(renderer.render(request, source(1, red), source(2, blue)).origin == .fallback(.sourceMissing(2)))
    }

    // MARK: Errors

    @Test("on an error the last good picture is shown, and counted")
    func fallback() {
        let compositor = ScriptedCompositor()
        let renderer = CompositionRenderer(compositor: compositor)
        let request = CompositionRequest(grid: [1], canvas: canvas)
        let good = renderer.render(request, source(1, red))
        compositor.error = .failed(reason: "test")
        for _ in 0..<3 {
            let composed = renderer.render(request, source(1, blue))
            #expect(composed.picture === good.picture && composed.origin == .fallback(.failed(reason: "test")))
        }
        compositor.error = nil
        #expect(renderer.render(request, source(1, blue)).origin == .rendered)
        #expect(renderer.statistics.fallbacks == 3)
    }

    @Test("a first error shows the background's colour")
    func nothingGood() {
        let compositor = ScriptedCompositor()
        compositor.error = .sourceMissing(1)
        let renderer = CompositionRenderer(compositor: compositor)
        var request = CompositionRequest(grid: [1], canvas: canvas)
        #expect(renderer.render(request).picture.isFilled(PixelRect(canvas), with: .background))
        request.instruction.background = .colour(YCbCrColour(y: 60, u: 70, v: 80))
        let fresh = CompositionRenderer(compositor: compositor)
        #expect(fresh.render(request).picture.isFilled(PixelRect(canvas), with: Colour(y: 60, u: 70, v: 80)))
    }

    @Test("after a change of layout the last picture is used, unless it shows a source that is not requested")
    func chain() {
        let compositor = ScriptedCompositor()
        let renderer = CompositionRenderer(compositor: compositor)
        let both = renderer.render(
            CompositionRequest(grid: [1, 2], canvas: canvas), source(1, red), source(2, blue))
        compositor.error = .failed(reason: "test")
        let swapped = renderer.render(
            CompositionRequest(grid: [2, 1], canvas: canvas), source(1, red), source(2, blue))
        #expect(swapped.picture === both.picture)
        let alone = renderer.render(CompositionRequest(grid: [1], canvas: canvas), source(1, red))
        #expect(alone.picture.isFilled(PixelRect(canvas), with: .background))
    }

    @Test("a picture of a wrong size is an error")
    func wrongSize() {
        let compositor = ScriptedCompositor()
        compositor.wrongSize = VideoDimensions(width: 32, height: 32)
        let composed = CompositionRenderer(compositor: compositor)
            .render(CompositionRequest(grid: [1], canvas: canvas), source(1, red))
        #expect(composed.picture.dimensions == canvas)
        guard case .fallback(.failed) = composed.origin else {
            Issue.record("\(composed.origin)")
            return
        }
    }

    // MARK: Cancellation

    @Test("a request cancelled before it begins is not rendered, and the last good picture is shown")
    func cancelled() {
        let compositor = ScriptedCompositor()
        let renderer = CompositionRenderer(compositor: compositor)
        let request = CompositionRequest(grid: [1], canvas: canvas)
        let good = renderer.render(request, source(1, red))
        let cancellation = CompositionCancellation()
        cancellation.cancel()
        let composed = renderer.render(request, source(1, blue), cancellation: cancellation)
        #expect(composed.picture === good.picture && composed.origin == .fallback(.cancelled))
        #expect(compositor.ticks == [1])
        #expect(renderer.statistics.cancellations == 1)
        #expect(renderer.render(request, source(1, blue)).origin == .rendered)
    }

    @Test("a request cancelled during rendering ends, and so do later ones")
    func cancelledMidway() {
        let compositor = ScriptedCompositor()
        let renderer = CompositionRenderer(compositor: compositor)
        let cancellation = CompositionCancellation()
        compositor.duringRender = { if compositor.ticks.count == 2 { cancellation.cancel() } }
        let requests = (1...4).map { CompositionRequest(grid: [.camera(ParticipantID(rawValue: $0))], canvas: canvas) }
        let list = Dictionary(
            uniqueKeysWithValues: (1...4).map { (id: UInt64) in
                (SourceID.camera(ParticipantID(rawValue: id)), source(.camera(ParticipantID(rawValue: id)), red))
            })
        let origins = renderer.render(
            requests, inputs: CompositionInputs(sources: list), at: .zero, cancellation: cancellation
        ).map(\.origin)
        #expect(origins == [.rendered, .fallback(.cancelled), .fallback(.cancelled), .fallback(.cancelled)])
        #expect(compositor.ticks == [1, 1])
    }

    // MARK: Memory

    // Without optimisation the standard library's collections allocate as they are iterated.
    @Test(
        "nothing is allocated in steady state",
        .enabled(if: allocation_counter_is_active() && !_isDebugAssertConfiguration()))
    func allocations() {
        let renderer = CompositionRenderer()
        // Sizes for which libyuv needs no memory of its own: 1/2, 1/1 and 1/1.
        let requests = [
            CompositionRequest(grid: [1, 2, 3], canvas: VideoDimensions(width: 256, height: 144)),
            CompositionRequest(grid: [4], canvas: VideoDimensions(width: 128, height: 72)),
        ]
        let ids: [SourceID] = [1, 2, 3, 4]
        let frames = (0..<6).map { frame in
            CompositionInputs(
                sources: Dictionary(
                    uniqueKeysWithValues: ids.enumerated().map { index, id in
                        var entry = source(id, solidPicture(.numbered(4 * frame + index), 256, 144))
                        entry.decoration = TileDecoration(isSpeaking: frame % 2 == 0)
                        return (id, entry)
                    }))
        }
        var results: [ComposedPicture] = []
        for index in 0..<30 { renderer.render(requests, inputs: frames[index % 6], at: .zero, into: &results) }
        let before = allocation_counter_read().count
        for index in 0..<30 { renderer.render(requests, inputs: frames[index % 6], at: .zero, into: &results) }
        #expect(allocation_counter_read().count == before)
    }
}
