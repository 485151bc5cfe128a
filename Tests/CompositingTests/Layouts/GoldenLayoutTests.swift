import MediaCore
import Testing

@testable import Compositing

/// Every layout with few and many participants, whose cameras are landscape, portrait and 4:3: the three side by side.
@Suite("Golden layouts")
struct GoldenLayoutTests {
    private static let canvas = VideoDimensions(width: 320, height: 180)
    private static let shapes = [
        VideoDimensions(width: 320, height: 180), VideoDimensions(width: 180, height: 320),
        VideoDimensions(width: 240, height: 180),
    ]
    private static let layouts: [(String, Layout)] = [
        ("grid", .grid), ("speaker", .speaker), ("side-by-side", .sideBySide),
        ("picture-in-picture", .pictureInPicture),
        ("presentation", .speaker), ("pinned", .pinned(1)), ("solo", .solo(1)),
    ]

    @Test("each layout looks as it was accepted", arguments: layouts, [1, 2, 3, 5, 9, 16])
    func layout(named: (name: String, layout: Layout), count: Int) throws {
        var scene = LayoutScene(cameras: (1...count).map { ParticipantID(rawValue: UInt64($0)) })
        scene.speakers = scene.cameras.suffix(2).reversed()
        if named.name == "presentation" { scene.presenters = [1] }
        let pictures = Self.shapes.map { shape in
            let view = named.layout.view(of: scene, canvas: Self.canvas)
            return Composer().compose(
                [CompositionRequest(canvas: Self.canvas, layers: view.layers)],
                sources: cards(view.layers.map(\.source), shape))[0]
        }
        try GoldenPicture(name: "layout-\(named.name)-\(count)").check(contactSheet(pictures), tolerance: 10)
    }

    @Test("cameras that fill their tiles equal the accepted pictures, and screens are shown completely")
    func cover() throws {
        let scene = LayoutScene(cameras: [1, 2, 3], presenters: [1], speakers: [2])
        let pictures = Self.shapes.map { shape in
            let view = Layout.speaker.view(of: scene, canvas: Self.canvas, fit: .cover)
            return Composer().compose(
                [CompositionRequest(canvas: Self.canvas, layers: view.layers)],
                sources: cards(view.layers.map(\.source), shape))[0]
        }
        try GoldenPicture(name: "layout-cover").check(contactSheet(pictures), tolerance: 10)
    }
}

/// A test card for each source, with the number of its participant.
func cards(_ ids: some Sequence<SourceID>, _ size: VideoDimensions) -> [SourceID: CompositionSource] {
    var sources: [SourceID: CompositionSource] = [:]
    for id in ids {
        let number = Int(clamping: id.participant.rawValue)
        let card = id.content == .camera ? TestCard.camera(number, size) : TestCard.screenShare(number, size)
        sources[id] = source(id, card)
    }
    return sources
}
