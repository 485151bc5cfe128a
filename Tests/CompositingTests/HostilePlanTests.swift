import MediaCore
import MediaFixtures
import PixelTransfer
import Testing

@testable import Compositing

/// Plans and views that nobody has validated, with numbers beyond all bounds.
@Suite struct HostilePlanTests {
    private static let canvas = VideoDimensions(width: 64, height: 48)
    private static let sources: [SourceID: CompositionSource] = [
        1: CompositionSource(
            id: 1, name: "Ada", content: .picture(solidPicture(.red, 32, 18), rotation: .none, isStale: false),
            decoration: TileDecoration(isSpeaking: true)),
        2: CompositionSource(id: 2, name: "Grace", content: .placeholder(avatar: nil)),
    ]

    private struct Numbers {
        var generator: SeededGenerator

        mutating func whole() -> Int {
            [.min, .min + 1, -1, 0, 1, 17, 64, 1 << 24, 1 << 40, 1 << 62, .max - 1, .max].randomElement(
                using: &generator) ?? 0
        }

        mutating func fraction() -> Double {
            [.nan, -.infinity, .infinity, -1, 0, 0.5, 1, 1e300, -1e300, .leastNonzeroMagnitude].randomElement(
                using: &generator) ?? 0
        }

        mutating func time() -> MediaTime {
            [
                .invalid, .indefinite, .positiveInfinity, .negativeInfinity, .zero,
                MediaTime(value: .max, timescale: 1),
                MediaTime(value: .min, timescale: .max), MediaTime(value: 1, timescale: 30),
            ].randomElement(using: &generator) ?? .zero
        }

        mutating func range() -> MediaTimeRange {
            Bool.random(using: &generator)
                ? MediaTimeRange(start: time(), end: time())
                : MediaTimeRange(start: .zero, end: MediaTime(value: 2, timescale: 1))
        }

        mutating func rect() -> PixelRect { PixelRect(x: whole(), y: whole(), width: whole(), height: whole()) }

        mutating func ramps<Value>(_ value: (inout Numbers) -> Value) -> [Ramp<Value>] {
            (0..<Int.random(in: 0...2, using: &generator)).map { _ in
                Ramp(timeRange: range(), from: value(&self), to: value(&self))
            }
        }

        mutating func layer() -> CompositionLayer {
            CompositionLayer(
                source: Bool.random(using: &generator) ? 1 : 2, rect: rect(),
                fit: Bool.random(using: &generator)
                    ? .contain : .cover(focus: FocusPoint(x: fraction(), y: fraction())),
                opacity: fraction(), cornerRadius: whole(),
                border: LayerBorder(width: whole(), colour: YCbCrColour(y: 82, u: 90, v: 240)),
                zOrder: whole(),
                rectRamps: ramps { $0.rect() }, opacityRamps: ramps { $0.fraction() })
        }

        mutating func overlays() -> [CompositionOverlay] {
            (0..<Int.random(in: 0...1, using: &generator)).map { _ in
                CompositionOverlay(.clock(utcOffset: whole()), anchor: .top, height: fraction(), opacity: fraction())
            }
        }
    }

    @Test(arguments: 1...12)
    func `a plan is validated, explained and drawn whatever its numbers`(seed: UInt64) {
        var numbers = Numbers(generator: SeededGenerator(seed: seed))
        let composer = Composer()
        for _ in 0..<5 {
            let instruction = CompositionInstruction(
                timeRange: numbers.range(), background: nil, layers: [numbers.layer(), numbers.layer()],
                overlays: numbers.overlays())
            let plan = CompositionPlan(canvas: Self.canvas, instructions: [instruction])
            #expect(plan.validate().allSatisfy { !$0.description.isEmpty })
            for time in [numbers.time(), MediaTime(value: 1, timescale: 2)] {
                let request = CompositionRequest(canvas: Self.canvas, instruction: instruction)
                #expect(composer.compose([request], sources: Self.sources, at: time)[0].dimensions == Self.canvas)
            }
        }
    }

    @Test(arguments: 1...12)
    func `a director goes from any view to any other, and what it shows is drawn`(seed: UInt64) {
        var numbers = Numbers(generator: SeededGenerator(seed: seed))
        let composer = Composer()
        let style = TransitionStyle(
            duration: [.milliseconds(300), .seconds(Int64.max), .seconds(-1)].randomElement(using: &numbers.generator)
                ?? .zero)
        var director = CompositionDirector(canvas: Self.canvas, transitions: style)
        for _ in 0..<6 {
            director.show(
                CompositionView(layers: [numbers.layer(), numbers.layer()], overlays: numbers.overlays()),
                at: numbers.time())
            let time = numbers.time()
            let request = CompositionRequest(canvas: Self.canvas, instruction: director.instruction(at: time))
            #expect(composer.compose([request], sources: Self.sources, at: time)[0].dimensions == Self.canvas)
        }
        #expect(director.plan.validate().allSatisfy { !$0.description.isEmpty })
    }

    @Test(arguments: 1...24)
    func `a template made in code is laid out and drawn whatever its numbers`(seed: UInt64) {
        var numbers = Numbers(generator: SeededGenerator(seed: seed))
        func area() -> LayoutTemplate.Area {
            LayoutTemplate.Area(
                x: numbers.fraction(), y: numbers.fraction(), width: numbers.fraction(), height: numbers.fraction())
        }
        let slots = LayoutTemplate.Tiling.allCases.map { tiling in
            LayoutTemplate.Slot(
                name: tiling.rawValue, area: Bool.random(using: &numbers.generator) ? area() : .fullscreen,
                show: [.next], tiling: tiling, mostTiles: numbers.whole(), gap: numbers.fraction(),
                cornerRadius: numbers.fraction(),
                border: .init(width: numbers.fraction(), colour: .init(red: 9, green: 9, blue: 9)),
                opacity: numbers.fraction(), zOrder: numbers.whole())
        }
        let overlay = LayoutTemplate.Overlay(
            .clock(utcOffset: numbers.whole()), anchor: .top, height: numbers.fraction(), opacity: numbers.fraction())
        let template = LayoutTemplate(arrangements: [.init(slots: slots)], overlays: [overlay])
        let view = Layout.template(template).view(of: LayoutScene(cameras: [1, 2]), canvas: Self.canvas)
        let instruction = CompositionInstruction(
            timeRange: MediaTimeRange(start: .zero, end: MediaTime(value: 2, timescale: 1)), background: nil,
            layers: view.layers, overlays: view.overlays)
        let request = CompositionRequest(canvas: Self.canvas, instruction: instruction)
        let picture = Composer().compose([request], sources: Self.sources, at: MediaTime(value: 1, timescale: 2))[0]
        #expect(picture.dimensions == Self.canvas)
    }
}
