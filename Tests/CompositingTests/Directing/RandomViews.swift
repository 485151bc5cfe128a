import MediaCore
import PixelTransfer

@testable import Compositing

/// Views of a canvas as rooms want them, and as nobody would.
struct RandomViews {
    let canvas: VideoDimensions
    private var generator: SeededGenerator
    private var scene = LayoutScene(cameras: [1, 2, 3])
    private var layout = Layout.grid

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
        canvas = VideoDimensions(
            width: 2 * Int.random(in: 40...960, using: &generator),
            height: 2 * Int.random(in: 40...540, using: &generator))
    }

    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }

    /// Some time until the next change: often less than a transition takes, now and then none at all.
    mutating func interval() -> MediaTime {
        switch number(0...9) {
        case 0: .zero
        case 1: MediaTime(value: Int64(number(1...9)), timescale: 90_000)
        case 2...6: MediaTime(value: Int64(number(1...12)), timescale: 30)
        case 7: MediaTime(value: Int64(number(1...1_000_000_000)), timescale: 1_000_000_000)
        default: MediaTime(value: Int64(number(1...2000)), timescale: 1000)
        }
    }

    mutating func next() -> CompositionView {
        var view = number(0...3) == 0 ? chaos() : room()
        if number(0...5) == 0 { view.background = .colour(YCbCrColour(y: UInt8(number(16...235)), u: 128, v: 128)) }
        if number(0...5) == 0 { view.overlays = [CompositionOverlay(.text("live"), anchor: .top, height: 0.1)] }
        return view
    }

    /// Somebody came, left, spoke or shares a screen, or the layout was changed.
    private mutating func room() -> CompositionView {
        switch number(0...4) {
        case 0: scene.cameras.append(ParticipantID(rawValue: UInt64(number(10...60))))
        case 1: if !scene.cameras.isEmpty { scene.cameras.remove(at: number(0...(scene.cameras.count - 1))) }
        case 2: scene.speakers = Array(scene.cameras.shuffled(using: &generator).prefix(3))
        case 3: scene.presenters = number(0...1) == 0 ? [] : Array(scene.cameras.prefix(1))
        default:
            let subject = scene.cameras.randomElement(using: &generator) ?? 1
            let layouts = [
                Layout.grid, .speaker, .sideBySide, .pictureInPicture, .pinned(subject), .solo(subject),
            ]
            layout = layouts[number(0...(layouts.count - 1))]
        }
        scene.cameras = scene.cameras.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
        return layout.view(of: scene, canvas: canvas, fit: number(0...1) == 0 ? .contain : .cover)
    }

    /// Few sources at many places, over each other, translucent, some of them twice.
    private mutating func chaos() -> CompositionView {
        let layers = (0..<number(0...6)).map { _ in
            let width = 2 * number(1...(canvas.width / 2))
            let height = 2 * number(1...(canvas.height / 2))
            return CompositionLayer(
                source: .camera(ParticipantID(rawValue: UInt64(number(1...5)))),
                rect: PixelRect(
                    x: 2 * number(0...((canvas.width - width) / 2)), y: 2 * number(0...((canvas.height - height) / 2)),
                    width: width, height: height),
                opacity: number(0...3) == 0 ? Double(number(0...100)) / 100 : 1,
                cornerRadius: number(0...1) == 0 ? 0 : 2 * number(0...(min(width, height) / 4)),
                zOrder: number(-1...1))
        }
        return CompositionView(layers: layers)
    }
}
