import MediaCore
import PixelTransfer
import Testing

@testable import Compositing

@Suite("Composition director")
struct CompositionDirectorTests {
    private let canvas = VideoDimensions(width: 1280, height: 720)
    private let whole = PixelRect(x: 0, y: 0, width: 1280, height: 720)
    private let left = PixelRect(x: 0, y: 180, width: 640, height: 360)
    private let right = PixelRect(x: 640, y: 180, width: 640, height: 360)
    private let corner = PixelRect(x: 940, y: 520, width: 320, height: 180)

    private func director(_ transitions: TransitionStyle = .standard) -> CompositionDirector {
        CompositionDirector(canvas: canvas, transitions: transitions)
    }

    private func at(_ milliseconds: Int64) -> MediaTime { MediaTime(value: milliseconds, timescale: 1000) }

    private func view(_ layers: CompositionLayer...) -> CompositionView { CompositionView(layers: layers) }

    private func layer(_ source: SourceID, _ rect: PixelRect) -> CompositionLayer {
        CompositionLayer(source: source, rect: rect)
    }

    // MARK: Steady views

    @Test("before anything is shown there is an empty instruction without a plan")
    func nothing() {
        #expect(director().plan.instructions.isEmpty)
        #expect(director().instruction(at: at(5)).layers.isEmpty)
        #expect(director().instruction(at: at(5)).background == .standard)
    }

    @Test("the first view is there at once and has no end")
    func first() {
        var director = director()
        director.show(view(layer(1, left), layer(2, right)), at: at(100))
        let instruction = director.instruction(at: at(100))
        #expect(director.plan.instructions == [instruction])
        #expect(instruction.timeRange == MediaTimeRange(start: at(100), duration: .positiveInfinity))
        #expect(instruction.layers == [layer(1, left), layer(2, right)])
        #expect(instruction.requiredSources == [1, 2] && !instruction.containsTweening)
        #expect(director.instruction(at: .zero) == instruction)
    }

    @Test("a request for the present view changes nothing")
    func same() {
        var director = director()
        director.show(view(layer(1, left)), at: at(0))
        director.show(view(layer(1, right)), at: at(1000))
        let plan = director.plan
        director.show(view(layer(1, right)), at: at(1100))
        #expect(director.plan == plan)
    }

    @Test("with transitions off there are steady instructions alone")
    func off() {
        var director = director(.off)
        director.show(view(layer(1, left)), at: at(0))
        director.show(view(layer(1, right), layer(2, left)), at: at(1000))
        director.show(view(layer(2, whole)), at: at(2000))
        #expect(director.plan.instructions.map(\.containsTweening) == [false, false, false])
        #expect(director.plan.instructions.map(\.timeRange.start) == [at(0), at(1000), at(2000)])
        #expect(director.instruction(at: at(1999)).layers == [layer(1, right), layer(2, left)])
    }

    @Test("the source of a single opaque layer over the whole canvas, without decoration, is passed through")
    func passthrough() {
        var director = director()
        director.show(view(layer(1, whole)), at: at(0))
        #expect(director.instruction(at: at(0)).passthroughSource == 1)
        #expect(director.instruction(at: at(0)).layers.map(\.isDecorated) == [false])
    }

    @Test(
        "no source passes through that an overlay, a border, a corner, a turn or another layer changes",
        arguments: ["overlay", "border", "corner", "rotation", "opacity", "small", "two"])
    func notPassedThrough(reason: String) {
        var view = view(layer(1, whole))
        switch reason {
        case "overlay": view.overlays = [CompositionOverlay(.text("live"), anchor: .top, height: 0.1)]
        case "border": view.layers[0].border = LayerBorder(width: 4, colour: .white)
        case "corner": view.layers[0].cornerRadius = 8
        case "rotation": view.layers[0].rotation = .clockwise90
        case "opacity": view.layers[0].opacity = 0.5
        case "small": view.layers[0].rect = left
        default: view.layers.append(layer(2, corner))
        }
        var director = director()
        director.show(view, at: at(0))
        #expect(director.instruction(at: at(0)).passthroughSource == nil)
        #expect(director.instruction(at: at(0)).layers[0].isDecorated == ["small", "two"].contains(reason))
    }

    // MARK: Changes

    @Test("layers that stay move for the set duration with the set easing, and then stop")
    func glide() throws {
        var director = director(TransitionStyle(duration: .milliseconds(200), easing: .linear))
        director.show(view(layer(1, left)), at: at(0))
        director.show(view(layer(1, right)), at: at(1000))
        let ranges = director.plan.instructions.map(\.timeRange)
        #expect(
            ranges == [
                MediaTimeRange(start: at(0), end: at(1000)), MediaTimeRange(start: at(1000), end: at(1200)),
                MediaTimeRange(start: at(1200), duration: .positiveInfinity),
            ])
        let moving = director.instruction(at: at(1100))
        #expect(moving.resolvedLayers(at: at(1000)).map(\.rect) == [left])
        #expect(moving.resolvedLayers(at: at(1050)).map(\.rect.x) == [160])
        #expect(moving.resolvedLayers(at: at(1100)).map(\.rect.x) == [320])
        #expect(moving.layers[0].opacityRamps.isEmpty)
        #expect(director.instruction(at: at(1200)).layers == [layer(1, right)])
    }

    @Test("layers that do not move have no ramps while others do")
    func steadyOnes() {
        var director = director()
        director.show(view(layer(1, left), layer(2, right)), at: at(0))
        director.show(view(layer(1, left), layer(2, corner)), at: at(1000))
        let moving = director.instruction(at: at(1000))
        #expect(moving.layers.first { $0.source == 1 }?.containsTweening == false)
        #expect(moving.layers.first { $0.source == 2 }?.containsTweening == true)
    }

    @Test("arriving layers fade in and grow slightly into their place")
    func joining() throws {
        var director = director()
        director.show(view(layer(1, left)), at: at(0))
        director.show(view(layer(1, left), layer(2, right)), at: at(1000))
        let moving = director.instruction(at: at(1000))
        let coming = try #require(moving.layers.first { $0.source == 2 })
        let first = coming.resolved(at: at(1000))
        #expect(first.opacity == 0 && right.contains(first.rect) && first.rect.width == 592)
        #expect(coming.resolved(at: at(1300)).opacity == 1 && coming.resolved(at: at(1300)).rect == right)
        #expect(moving.requiredSources == [1, 2])
    }

    @Test("leaving layers fade out in place, beneath those that stay, and are required until they have gone")
    func leaving() throws {
        var director = director()
        director.show(view(layer(1, left), layer(2, right)), at: at(0))
        director.show(view(layer(1, whole)), at: at(1000))
        let moving = director.instruction(at: at(1299))
        #expect(moving.layers.map(\.source) == [2, 1])
        #expect(moving.layers[0].rect == right && moving.layers[0].rectRamps.isEmpty)
        #expect(moving.layers[0].resolved(at: at(1000)).opacity == 1)
        #expect(moving.layers[0].resolved(at: at(1300)).opacity == 0)
        #expect(moving.requiredSources == [1, 2] && moving.passthroughSource == nil)
        #expect(director.instruction(at: at(1300)).requiredSources == [1])
        #expect(director.instruction(at: at(1300)).passthroughSource == 1)
    }

    @Test("when one picture replaces another, the background is hardly visible")
    func crossfade() {
        var director = director()
        director.show(view(layer(1, whole)), at: at(0))
        director.show(view(layer(2, whole)), at: at(1000))
        let moving = director.instruction(at: at(1000))
        #expect(moving.layers.map(\.source) == [1, 2])
        for time in stride(from: Int64(1000), to: 1300, by: 5) {
            let background = moving.resolvedLayers(at: at(time)).reduce(1) { $0 * (1 - $1.opacity) }
            #expect(background < 0.07)
        }
    }

    @Test("background, overlays, border, corners and fit change at once, without a transition of their own")
    func atOnce() {
        var director = director()
        var wanted = view(layer(1, left))
        director.show(wanted, at: at(0))
        wanted.background = .colour(.black)
        wanted.overlays = [CompositionOverlay(.text("live"), anchor: .top, height: 0.1)]
        wanted.layers[0].border = LayerBorder(width: 4, colour: .white)
        wanted.layers[0].cornerRadius = 12
        wanted.layers[0].fit = .cover
        director.show(wanted, at: at(1000))
        #expect(director.plan.instructions.count == 2)
        let instruction = director.instruction(at: at(1000))
        #expect(instruction.background == .colour(.black) && instruction.overlays == wanted.overlays)
        #expect(instruction.layers == wanted.layers)

        wanted.layers[0].rect = right
        wanted.layers[0].cornerRadius = 0
        director.show(wanted, at: at(2000))
        #expect(director.instruction(at: at(2000)).layers[0].cornerRadius == 0)
    }

    @Test("layers of a source that is shown twice are matched by order, and one in its final place stays")
    func twice() {
        var director = director()
        director.show(view(layer(1, whole), layer(1, corner)), at: at(0))
        director.show(view(layer(2, whole), layer(1, corner)), at: at(1000))
        let moving = director.instruction(at: at(1000))
        #expect(moving.layers.filter { $0.source == 1 && !$0.containsTweening }.map(\.rect) == [corner])
        director.show(view(layer(1, left), layer(1, right)), at: at(2000))
        director.show(view(layer(1, right), layer(1, whole)), at: at(3000))
        let glides = director.instruction(at: at(3000)).layers.filter { !$0.rectRamps.isEmpty }
        #expect(glides.map(\.rect) == [whole])
    }

    // MARK: Interruption

    @Test("a layer on its way to its place continues undisturbed by another change")
    func undisturbed() {
        var alone = director()
        alone.show(view(layer(1, left)), at: at(0))
        alone.show(view(layer(1, right)), at: at(1000))
        var interrupted = alone
        interrupted.show(view(layer(1, right), layer(2, left)), at: at(1110))
        for time in stride(from: Int64(1110), to: 1500, by: 7) {
            let expected = alone.instruction(at: at(time)).resolvedLayers(at: at(time))[0].rect
            let layers = interrupted.instruction(at: at(time)).resolvedLayers(at: at(time))
            #expect(layers.first { $0.source == 1 }?.rect == expected)
        }
        #expect(interrupted.plan.instructions.map(\.timeRange.start) == [at(0), at(1000), at(1110), at(1410)])
    }

    @Test("a leaving layer that is wanted again returns from its present state")
    func returning() throws {
        var director = director()
        director.show(view(layer(1, left), layer(2, right)), at: at(0))
        director.show(view(layer(1, left)), at: at(1000))
        let fading = director.instruction(at: at(1150)).resolvedLayers(at: at(1150))
        director.show(view(layer(1, left), layer(2, right)), at: at(1150))
        let back = try #require(director.instruction(at: at(1150)).layers.first { $0.source == 2 })
        #expect(back.resolved(at: at(1150)).opacity == fading.first { $0.source == 2 }?.opacity)
        #expect(back.rectRamps.isEmpty && back.resolved(at: at(1450)).opacity == 1)
    }

    @Test("the first of two changes at one time has no effect")
    func atOneTime() {
        var (once, twice) = (director(), director())
        once.show(view(layer(1, left)), at: at(0))
        twice.show(view(layer(3, left)), at: at(0))
        twice.show(view(layer(1, left)), at: at(0))
        #expect(twice.plan == once.plan)
        once.show(view(layer(1, right)), at: at(1000))
        twice.show(view(layer(1, left), layer(2, right)), at: at(1000))
        twice.show(view(layer(1, right)), at: at(1000))
        #expect(twice.plan == once.plan)
        twice.show(view(layer(2, right)), at: at(2000))
        twice.show(view(layer(1, right)), at: at(2000))
        #expect(twice.plan == once.plan)
    }

    @Test("a time before the last change, or none at all, is that of the last change")
    func backwards() {
        var director = director()
        director.show(view(layer(1, left)), at: .invalid)
        director.show(view(layer(1, right)), at: at(1000))
        director.show(view(layer(1, whole)), at: at(500))
        director.show(view(layer(1, corner)), at: .positiveInfinity)
        #expect(director.plan.instructions.map(\.timeRange.start) == [at(0), at(1000), at(1300)])
        #expect(director.instruction(at: at(1300)).layers.map(\.rect) == [corner])
    }

    @Test("instructions are kept for a minute, up to a limit")
    func bounded() {
        var director = director()
        for index in 0..<200 {
            director.show(view(layer(1, index % 2 == 0 ? left : right)), at: at(Int64(index) * 1000))
        }
        let first = director.plan.instructions[0].timeRange.end
        #expect(first >= at(139_000) && first <= at(140_000))
        for index in 0..<1000 {
            director.show(
                view(layer(SourceID.camera(ParticipantID(rawValue: UInt64(index % 50))), whole)),
                at: at(200_000 + Int64(index)))
            #expect(director.plan.instructions.count <= CompositionDirector.mostInstructions)
            #expect(director.instruction(at: at(200_000 + Int64(index))).layers.count < 150)
        }
    }
}
