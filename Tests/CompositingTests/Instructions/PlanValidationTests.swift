import MediaCore
import PixelTransfer
import Testing

@testable import Compositing

@Suite("Validation of plans")
struct PlanValidationTests {
    private let canvas = VideoDimensions(width: 640, height: 360)
    private let whole = PixelRect(x: 0, y: 0, width: 640, height: 360)
    private let left = PixelRect(x: 0, y: 90, width: 320, height: 180)
    private let right = PixelRect(x: 320, y: 90, width: 320, height: 180)

    private func range(_ start: Int64, _ end: Int64) -> MediaTimeRange {
        MediaTimeRange(start: MediaTime(value: start, timescale: 1000), end: MediaTime(value: end, timescale: 1000))
    }

    /// Two who stand, then one of them glides and the other fades, then one alone.
    private var good: CompositionPlan {
        var plan = CompositionPlan(
            canvas: canvas,
            instructions: [
                CompositionInstruction(
                    timeRange: range(0, 1000),
                    layers: [CompositionLayer(source: 1, rect: left), CompositionLayer(source: 2, rect: right)],
                    overlays: [CompositionOverlay(.text("live"), anchor: .top, height: 0.1)]),
                CompositionInstruction(
                    timeRange: range(1000, 1300),
                    layers: [
                        CompositionLayer(
                            source: 2, rect: right, opacity: 0,
                            opacityRamps: [Ramp(timeRange: range(1000, 1300), from: 1, to: 0)]),
                        CompositionLayer(
                            source: 1, rect: whole,
                            rectRamps: [Ramp(timeRange: range(1000, 1300), from: left, to: whole)]),
                    ]),
                CompositionInstruction(
                    timeRange: range(1300, 2000),
                    layers: [CompositionLayer(source: 1, rect: whole, isDecorated: false)], passthroughSource: 1),
            ])
        plan.instructions[2].timeRange.duration = .positiveInfinity
        return plan
    }

    /// The issues of the good plan after a change.
    private func issues(_ change: (inout CompositionPlan) -> Void) -> [CompositionIssue] {
        var plan = good
        change(&plan)
        return plan.validate()
    }

    @Test("a good plan has no issues")
    func noIssues() {
        #expect(good.validate().isEmpty)
        #expect(CompositionPlan(canvas: canvas, instructions: []).validate().isEmpty)
    }

    // MARK: Times

    @Test("a gap between instructions")
    func gap() {
        let found = issues { $0.instructions[0].timeRange = range(0, 900) }
        #expect(found == [CompositionIssue(.gap, timeRange: range(900, 1000))])
        #expect(found[0].description == "from 0.900 s to 1.000 s: no instruction says what is shown")
    }

    @Test("instructions that overlap, also beyond the next one")
    func overlap() {
        let found = issues { $0.instructions[0].timeRange = range(0, 1400) }
        #expect(
            found == [
                CompositionIssue(.overlap, timeRange: range(1000, 1300)),
                CompositionIssue(.overlap, timeRange: range(1300, 1400)),
            ])
        let endless = issues { $0.instructions[0].timeRange.duration = .positiveInfinity }
        #expect(endless.map(\.kind) == [.overlap, .overlap])
    }

    @Test("instructions out of order, and without time")
    func order() {
        let found = issues { $0.instructions.swapAt(0, 1) }
        #expect(found.map(\.kind).prefix(1) == [.instructionOutOfOrder])
        let empty = issues { $0.instructions[0].timeRange = range(1000, 1000) }
        #expect(empty.map(\.kind) == [.instructionWithoutTime])
        #expect(issues { $0.instructions[0].timeRange = .invalid }.map(\.kind) == [.instructionWithoutTime])
    }

    // MARK: Ramps

    @Test(
        "ramps that are longer than their instruction, or begin before it, or last no time",
        arguments: [(1000, 1301), (999, 1200), (1300, 1400), (1100, 1100)] as [(Int64, Int64)])
    func rampOutside(start: Int64, end: Int64) {
        let found = issues {
            $0.instructions[1].layers[1].rectRamps = [Ramp(timeRange: range(start, end), from: left, to: whole)]
            $0.instructions[1].layers[0].opacityRamps = [Ramp(timeRange: range(start, end), from: 1, to: 0)]
        }
        #expect(
            found == [
                CompositionIssue(
                    .rampOutsideInstruction(2, .opacity, range(start, end)), timeRange: range(1000, 1300)),
                CompositionIssue(.rampOutsideInstruction(1, .place, range(start, end)), timeRange: range(1000, 1300)),
            ])
    }

    @Test("ramps of one property that overlap or are out of order", arguments: [false, true])
    func overlappingRamps(isSwapped: Bool) {
        let ranges = isSwapped ? [range(1200, 1300), range(1000, 1100)] : [range(1000, 1150), range(1149, 1300)]
        let found = issues {
            $0.instructions[1].layers[0].opacityRamps = ranges.map { Ramp(timeRange: $0, from: 1, to: 0) }
        }
        #expect(found.map(\.kind) == [.overlappingRamps(2, .opacity)])
    }

    // MARK: Layers

    @Test("layers outside the canvas, without samples, and at odd positions")
    func places() {
        let cases: [(PixelRect, [CompositionIssue.Kind])] = [
            (
                PixelRect(x: -2, y: 0, width: 320, height: 180),
                [.layerOutsideCanvas(1, .init(x: -2, y: 0, width: 320, height: 180))]
            ),
            (
                PixelRect(x: 322, y: 0, width: 320, height: 180),
                [.layerOutsideCanvas(1, .init(x: 322, y: 0, width: 320, height: 180))]
            ),
            (PixelRect(x: 0, y: 0, width: 0, height: 180), [.emptyLayer(1, .init(x: 0, y: 0, width: 0, height: 180))]),
            (PixelRect(x: 0, y: 0, width: 20, height: -4), [.emptyLayer(1, .init(x: 0, y: 0, width: 20, height: -4))]),
            (PixelRect(x: 1, y: 0, width: 20, height: 20), [.oddPosition(1, .init(x: 1, y: 0, width: 20, height: 20))]),
            (PixelRect(x: 0, y: 2, width: 20, height: 21), [.oddPosition(1, .init(x: 0, y: 2, width: 20, height: 21))]),
        ]
        for (rect, expected) in cases {
            #expect(issues { $0.instructions[0].layers[0].rect = rect }.map(\.kind) == expected)
            let ramped = issues {
                $0.instructions[1].layers[1].rectRamps = [Ramp(timeRange: range(1000, 1300), from: rect, to: whole)]
            }
            #expect(ramped.map(\.kind) == expected)
        }
    }

    @Test("layers whose right and lower edges are beyond all numbers")
    func hugeLayer() {
        let rect = PixelRect(x: 2, y: 2, width: .max, height: .max)
        let found = issues { $0.instructions[0].layers[0].rect = rect }.map(\.kind)
        #expect(found.contains(.layerOutsideCanvas(1, rect)))
    }

    @Test("on a canvas of an odd size a layer may end where the canvas ends")
    func oddCanvas() {
        let canvas = VideoDimensions(width: 101, height: 57)
        let instruction = CompositionInstruction(
            timeRange: .all, layers: [CompositionLayer(source: 1, rect: PixelRect(canvas))])
        #expect(CompositionPlan(canvas: canvas, instructions: [instruction]).validate().isEmpty)
    }

    @Test("opacities that are not from 0 to 1", arguments: [-0.1, 1.5, .nan, .infinity])
    func opacity(opacity: Double) {
        #expect(issues { $0.instructions[0].layers[0].opacity = opacity }.map(\.timeRange) == [range(0, 1000)])
        let ramped = issues {
            $0.instructions[1].layers[0].opacityRamps = [Ramp(timeRange: range(1000, 1300), from: opacity, to: 0)]
        }
        #expect(ramped.count == 1)
        guard case .opacityOutOfRange(2, _)? = ramped.first?.kind else {
            Issue.record("found \(ramped)")
            return
        }
    }

    @Test("corners and borders for which there is no room", arguments: [(-1, 0), (91, 90), (92, 200), (.max, .max)])
    func edges(radius: Int, width: Int) {
        let found = issues {
            $0.instructions[0].layers[0].cornerRadius = radius
            $0.instructions[0].layers[0].border = LayerBorder(width: width, colour: .white)
        }
        #expect(found.map(\.kind) == [.cornerRadiusTooLarge(1, radius), .borderTooWide(1, width)])
        let largest = issues {
            $0.instructions[0].layers[0].cornerRadius = 90
            $0.instructions[0].layers[0].border = LayerBorder(width: 88, colour: .white)
        }
        #expect(largest.isEmpty)
    }

    // MARK: Sources and what lies behind

    @Test("required sources without a layer, and layers whose source is not required")
    func requiredSources() {
        let found = issues { $0.instructions[0].requiredSources = [2, 7, .screenShare(7)] }
        #expect(
            found.map(\.kind) == [
                .sourceWithoutLayer(.camera(7)), .sourceWithoutLayer(.screenShare(7)), .layerWithoutSource(1),
            ])
        let sentence = found[0].description { $0 == .camera(7) ? "Ada's camera" : "somebody" }
        #expect(sentence == "from 0.000 s to 1.000 s: Ada's camera is required, but no layer shows it")
    }

    @Test("no background where layers do not cover the canvas all of the time")
    func background() {
        let bare = issues { $0.instructions[0].background = nil }
        #expect(
            bare.map(\.kind) == [
                .missingBackground(PixelRect(x: 0, y: 0, width: 640, height: 90)),
                .missingBackground(PixelRect(x: 0, y: 270, width: 640, height: 90)),
            ])
        let gliding = issues { $0.instructions[1].background = nil }
        #expect(!gliding.isEmpty)
        #expect(issues { $0.instructions[2].background = nil }.isEmpty)
        let translucent = issues {
            $0.instructions[2].background = nil
            $0.instructions[2].layers[0].opacity = 0.5
            $0.instructions[2].passthroughSource = nil
        }
        #expect(translucent.map(\.kind) == [.missingBackground(whole)])
        let rounded = issues {
            $0.instructions[2].background = nil
            $0.instructions[2].layers[0].cornerRadius = 2
            $0.instructions[2].passthroughSource = nil
        }
        #expect(rounded.map(\.kind) == [.missingBackground(whole)])
    }

    @Test("a source to be passed through that the layers contradict")
    func passthrough() {
        let changes: [(inout CompositionInstruction) -> Void] = [
            { $0.passthroughSource = 2 }, { $0.layers[0].isDecorated = true }, { $0.layers[0].rect = left },
            { $0.layers[0].opacity = 0.9 }, { $0.layers[0].cornerRadius = 10 },
            { $0.layers[0].border = LayerBorder(width: 2, colour: .white) }, { $0.layers[0].rotation = .rotate180 },
            { $0.overlays = [CompositionOverlay(.text("live"), anchor: .top, height: 0.1)] },
            { instruction in
                instruction.layers.append(CompositionLayer(source: 2, rect: left))
                instruction.requiredSources = [1, 2]
            },
        ]
        for change in changes {
            let found = issues { change(&$0.instructions[2]) }
            #expect(found.count == 1)
            guard case .contradictedPassthrough? = found.first?.kind else {
                Issue.record("found \(found)")
                return
            }
        }
    }

    @Test(
        "overlays of no height and of impossible opacity",
        arguments: [(0, 1), (1.1, 1), (.nan, 1), (0.1, 2), (0.1, .nan)])
    func overlays(height: Double, opacity: Double) {
        let found = issues {
            $0.instructions[0].overlays[0].height = height
            $0.instructions[0].overlays[0].opacity = opacity
        }
        #expect(found.map(\.kind) == [.overlayOutOfRange(.top)])
    }

    // MARK: Plans that are made

    @Test(
        "every plan of a director is valid, for any requests at any time", arguments: [TransitionStyle.standard, .off])
    func directed(transitions: TransitionStyle) {
        for seed in 0..<100 {
            var views = RandomViews(seed: UInt64(1000 + seed))
            var director = CompositionDirector(canvas: views.canvas, transitions: transitions)
            var time = MediaTime(value: Int64(seed), timescale: 90_000)
            for _ in 0..<30 {
                director.show(views.next(), at: time)
                time += views.interval()
            }
            let found = director.plan.validate()
            #expect(found.isEmpty, "seed \(seed): \(found)")
            let isMoving = director.plan.instructions.contains { $0.containsTweening }
            #expect(!isMoving || transitions != .off)
        }
    }

    @Test("every sentence has a time, an event and a participant")
    func sentences() {
        let kinds: [CompositionIssue.Kind] = [
            .rampOutsideInstruction(1, .place, range(5, 10)), .overlappingRamps(1, .opacity),
            .layerOutsideCanvas(1, left), .emptyLayer(1, left), .oddPosition(1, left), .opacityOutOfRange(1, 2),
            .cornerRadiusTooLarge(1, 2), .borderTooWide(1, 2), .sourceWithoutLayer(1), .layerWithoutSource(1),
            .contradictedPassthrough(1),
        ]
        for kind in kinds {
            let sentence = CompositionIssue(kind, timeRange: range(250, 1_500)).description { _ in "Ada" }
            #expect(sentence.hasPrefix("from 0.250 s to 1.500 s: ") && sentence.contains("Ada"))
        }
        let endless = CompositionIssue(
            .missingBackground(left), timeRange: MediaTimeRange(start: .zero, duration: .positiveInfinity))
        #expect(endless.description.hasPrefix("from 0.000 s on: "))
        #expect(CompositionIssue(.gap, timeRange: .all).description.hasPrefix("from the beginning on: "))
    }
}
