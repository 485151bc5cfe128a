import MediaCore
import Testing

@testable import Compositing

@Suite("Layouts")
struct LayoutTests {
    private let hd = VideoDimensions(width: 1280, height: 720)

    private func rect(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> PixelRect {
        PixelRect(x: x, y: y, width: width, height: height)
    }

    // MARK: Each layout

    @Test("in the grid all tiles are equal, regardless of the speaker")
    func grid() {
        let scene = LayoutScene(cameras: [1, 2, 3], speakers: [3])
        let tiles = Layout.grid.layers(of: scene, canvas: hd)
        #expect(tiles == CompositionRequest(grid: [.camera(1), .camera(2), .camera(3)], canvas: hd).instruction.layers)
    }

    @Test("the speaker is large above a strip of the others, which stay in their order")
    func speaker() {
        let scene = LayoutScene(cameras: [1, 2, 3], speakers: [2, 3])
        #expect(
            Layout.speaker.layers(of: scene, canvas: hd) == [
                CompositionLayer(source: .camera(2), rect: rect(160, 0, 960, 540)),
                CompositionLayer(source: .camera(1), rect: rect(320, 540, 320, 180)),
                CompositionLayer(source: .camera(3), rect: rect(640, 540, 320, 180)),
            ])
    }

    @Test("before anybody has spoken, the participant that joined first is large")
    func nobodySpoke() {
        let tiles = Layout.speaker.layers(of: LayoutScene(cameras: [7, 8]), canvas: hd)
        #expect(tiles.first?.source == .camera(7))
    }

    @Test(
        "a single participant has the whole canvas", arguments: [Layout.grid, .speaker, .sideBySide, .pictureInPicture])
    func alone(layout: Layout) {
        let tiles = layout.layers(of: LayoutScene(cameras: [1]), canvas: hd)
        #expect(tiles == [CompositionLayer(source: .camera(1), rect: rect(0, 0, 1280, 720))])
    }

    @Test("the strip shows at most eight participants: those that spoke last, in order of joining")
    func fullStrip() {
        let scene = LayoutScene(cameras: (1...20).map { ParticipantID(rawValue: $0) }, speakers: [20, 19, 4, 18])
        let tiles = Layout.speaker.layers(of: scene, canvas: hd)
        #expect(tiles.map(\.source.participant) == [20, 1, 2, 3, 4, 5, 6, 18, 19])
        #expect(tiles.count == 1 + StripLayout.mostPlaces)
    }

    @Test("a screen share is large beside a strip, in grid and in speaker")
    func screenShare() {
        let scene = LayoutScene(cameras: [1, 2], presenters: [2], speakers: [1])
        let expected = [
            CompositionLayer(source: .screenShare(2), rect: rect(0, 0, 960, 720)),
            CompositionLayer(source: .camera(1), rect: rect(960, 180, 320, 180)),
            CompositionLayer(source: .camera(2), rect: rect(960, 360, 320, 180)),
        ]
        for layout in [Layout.grid, .speaker] {
            #expect(layout.layers(of: scene, canvas: hd) == expected)
        }
    }

    @Test("of two presentations the newer is large, and the other leads the strip")
    func twoPresentations() {
        let scene = LayoutScene(cameras: [1, 2, 3], presenters: [3, 1])
        let sources = Layout.grid.layers(of: scene, canvas: hd).map(\.source)
        #expect(sources == [.screenShare(1), .screenShare(3), .camera(1), .camera(2), .camera(3)])
    }

    @Test("two people who talk to each other fill half the picture each and keep their places")
    func sideBySide() {
        let expected = [
            CompositionLayer(source: .camera(1), rect: rect(0, 0, 640, 720), fit: .cover),
            CompositionLayer(source: .camera(3), rect: rect(640, 0, 640, 720), fit: .cover),
        ]
        for speakers in [[3, 1], [1, 3]] as [[ParticipantID]] {
            let scene = LayoutScene(cameras: [1, 2, 3], speakers: speakers)
            #expect(Layout.sideBySide.layers(of: scene, canvas: hd) == expected)
        }
    }

    @Test("side by side, the presentation is on the left and not cropped, and the speaker is on the right")
    func sideBySideWithScreenShare() {
        let scene = LayoutScene(cameras: [1, 2], presenters: [2], speakers: [1])
        #expect(
            Layout.sideBySide.layers(of: scene, canvas: hd) == [
                CompositionLayer(source: .screenShare(2), rect: rect(0, 0, 640, 720)),
                CompositionLayer(source: .camera(1), rect: rect(640, 0, 640, 720), fit: .cover),
            ])
    }

    @Test("on an upright canvas one half is above the other")
    func uprightHalves() {
        let tiles = Layout.sideBySide.layers(
            of: LayoutScene(cameras: [1, 2]), canvas: VideoDimensions(width: 720, height: 1280))
        #expect(tiles.map(\.rect) == [rect(0, 0, 720, 640), rect(0, 640, 720, 640)])
    }

    @Test("picture in picture: the second in importance is in the corner of the first")
    func pictureInPicture() {
        let scene = LayoutScene(cameras: [1, 2, 3], speakers: [3, 2])
        #expect(
            Layout.pictureInPicture.layers(of: scene, canvas: hd) == [
                CompositionLayer(source: .camera(3), rect: rect(0, 0, 1280, 720)),
                CompositionLayer(source: .camera(2), rect: rect(940, 520, 320, 180)),
            ])
        let presented = LayoutScene(cameras: [1, 2, 3], presenters: [1], speakers: [3, 2])
        #expect(
            Layout.pictureInPicture.layers(of: presented, canvas: hd).map(\.source) == [.screenShare(1), .camera(3)])
    }

    @Test("a pinned participant is large regardless of others; its own screen share comes first")
    func pinned() {
        var scene = LayoutScene(cameras: [1, 2, 3], presenters: [3], speakers: [3])
        #expect(
            Layout.pinned(2).layers(of: scene, canvas: hd).map(\.source)
                == [.camera(2), .screenShare(3), .camera(1), .camera(3)])
        scene.presenters = [2, 3]
        #expect(Layout.pinned(2).layers(of: scene, canvas: hd).first?.source == .screenShare(2))
    }

    @Test("solo shows one alone")
    func solo() {
        let scene = LayoutScene(cameras: [1, 2, 3], speakers: [3])
        #expect(
            Layout.solo(2).layers(of: scene, canvas: hd) == [
                CompositionLayer(source: .camera(2), rect: rect(0, 0, 1280, 720))
            ])
    }

    @Test(
        "a participant without a picture cannot be pinned or shown alone: the speaker is shown",
        arguments: [Layout.pinned(9), .solo(9)])
    func nobody(layout: Layout) {
        let scene = LayoutScene(cameras: [1, 2], speakers: [2])
        #expect(layout.layers(of: scene, canvas: hd) == Layout.speaker.layers(of: scene, canvas: hd))
        #expect(layout.layers(of: LayoutScene(cameras: []), canvas: hd).isEmpty)
    }

    // MARK: What holds for all

    @Test("tiles are even, lie on the canvas, do not overlap, and show each source once")
    func geometry() {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<6000 {
            let (layout, scene, canvas) = randomCase(&generator)
            let tiles = layout.layers(of: scene, canvas: canvas)
            let whole = PixelRect(canvas)
            let isSound =
                tiles.allSatisfy { tile in
                    whole.contains(tile.rect) && !tile.rect.isEmpty
                        && [tile.rect.x, tile.rect.y, tile.rect.width, tile.rect.height].allSatisfy { $0 % 2 == 0 }
                } && Set(tiles.map(\.source)).count == tiles.count
            #expect(isSound, "\(layout) of \(scene) on \(canvas): \(tiles)")
            for (index, tile) in tiles.enumerated() {
                for other in tiles[..<index] {
                    let isInset = layout == .pictureInPicture && index == 1 && other.rect.contains(tile.rect)
                    #expect(
                        isInset || !tile.rect.overlaps(other.rect), "\(layout) of \(scene) on \(canvas): \(tiles)")
                }
            }
        }
    }

    @Test("cameras' tiles are 16:9, except halves and the whole canvas")
    func aspect() {
        var generator = SeededGenerator(seed: 2)
        for _ in 0..<3000 {
            let (layout, scene, canvas) = randomCase(&generator)
            for tile in layout.layers(of: scene, canvas: canvas)
            where tile.source.content == .camera && tile.fit == .contain {
                if tile.rect.dimensions == PairLayout.whole(canvas)?.dimensions { continue }
                // Each side is within two samples of the exact one.
                #expect(
                    abs(tile.rect.width * 9 - tile.rect.height * 16) <= 2 * 16 + 2 * 9,
                    "\(tile) of \(layout) on \(canvas)")
            }
        }
    }

    @Test("each layout's view is the layers on plain background, and shown, makes a plan without an issue")
    func views() {
        var generator = SeededGenerator(seed: 4)
        for _ in 0..<2000 {
            let (layout, scene, canvas) = randomCase(&generator)
            let view = layout.view(of: scene, canvas: canvas)
            #expect(view == CompositionView(layers: layout.layers(of: scene, canvas: canvas)))
            var director = CompositionDirector(canvas: canvas, transitions: .off)
            director.show(view, at: .zero)
            let issues = director.plan.validate()
            #expect(issues.isEmpty, "\(layout) of \(scene) on \(canvas): \(issues)")
        }
    }

    @Test("with cover, all cameras fill their tiles at the same places, and screens are shown completely")
    func cover() {
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<1000 {
            let (layout, scene, canvas) = randomCase(&generator)
            let whole = layout.layers(of: scene, canvas: canvas)
            let filled = layout.layers(of: scene, canvas: canvas, fit: .cover)
            #expect(filled.map(\.rect) == whole.map(\.rect) && filled.map(\.source) == whole.map(\.source))
            for layer in filled { #expect(layer.fit == (layer.source.content == .camera ? .cover : .contain)) }
        }
    }

    @Test("a large screen share has at least half of the canvas in each layout")
    func screenShareIsLarge() {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<3000 {
            var (_, scene, canvas) = randomCase(&generator)
            scene.presenters = [scene.cameras[0]]
            for layout in [Layout.grid, .speaker, .pictureInPicture] {
                let tile = layout.layers(of: scene, canvas: canvas)[0]
                #expect(tile.source == .screenShare(scene.cameras[0]) && tile.fit == .contain)
                #expect(tile.rect.area * 2 >= canvas.area, "\(layout) of \(scene) on \(canvas): \(tile)")
            }
        }
    }

    @Test("the speaker has more than half of the canvas, however many are in the strip")
    func speakerIsLarge() {
        for count in 3...20 {
            let scene = LayoutScene(cameras: (1...count).map { ParticipantID(rawValue: UInt64($0)) })
            let speaker = Layout.speaker.layers(of: scene, canvas: hd)[0].rect
            #expect(speaker.area * 2 > hd.area)
        }
    }

    @Test("no canvas and no number of people is too much", arguments: [0, 1, 2, 3, 4, 7, 16])
    func tinyCanvases(width: Int) {
        let everyone = LayoutScene(
            cameras: (1...60).map { ParticipantID(rawValue: $0) }, presenters: [1, 2], speakers: [5, 99])
        for height in 0...20 {
            let canvas = VideoDimensions(width: width, height: height)
            for layout in Self.layouts + [.pinned(3), .solo(4)] {
                for scene in [everyone, LayoutScene(cameras: [1, 2])] {
                    for tile in layout.layers(of: scene, canvas: canvas) {
                        #expect(PixelRect(canvas).contains(tile.rect) && !tile.rect.isEmpty)
                    }
                }
            }
        }
    }

    private static let layouts = [Layout.grid, .speaker, .sideBySide, .pictureInPicture]

    private func randomCase(
        _ generator: inout SeededGenerator
    ) -> (layout: Layout, scene: LayoutScene, canvas: VideoDimensions) {
        let canvas = VideoDimensions(
            width: Int.random(in: 160...4096, using: &generator), height: Int.random(in: 160...4096, using: &generator))
        let ids = (0..<UInt64.random(in: 1...49, using: &generator)).map { ParticipantID(rawValue: $0) }
        let scene = LayoutScene(
            cameras: ids,
            presenters: Array(
                ids.shuffled(using: &generator).prefix(max(0, Int.random(in: -3...3, using: &generator)))),
            speakers: Array(ids.shuffled(using: &generator).prefix(Int.random(in: 0...5, using: &generator))))
        let subject = ids[Int.random(in: 0..<ids.count, using: &generator)]
        let layouts = Self.layouts + [.pinned(subject), .solo(subject)]
        return (layouts[Int.random(in: 0..<layouts.count, using: &generator)], scene, canvas)
    }
}
