import Foundation
import MediaCore
import MediaFixtures
import PixelTransfer
import Testing

@testable import Compositing

/// Layouts as they look. Where `CONFRELAY_PICTURE_DIR` names a folder, the pictures are written there: those of
/// docs/layouts.md.
@Suite("Layouts as pictures")
struct LayoutPictureTests {
    private static let canvas = VideoDimensions(width: 1280, height: 720)
    /// Names whose placeholders' colours can be told from each other.
    private static let names = ["Ada", "Ben", "Cy", "Dan", "Eve"]

    private static let scene = LayoutScene(cameras: [0, 1, 2, 3, 4], speakers: [2, 3])
    private static let presented = LayoutScene(cameras: [0, 1, 2, 3, 4], presenters: [1], speakers: [2, 3])

    @Test(
        "each tile shows its source",
        arguments: [
            ("grid", Layout.grid, scene), ("speaker", .speaker, scene), ("presentation", .speaker, presented),
            ("side-by-side", .sideBySide, scene), ("side-by-side-screen", .sideBySide, presented),
            ("picture-in-picture", .pictureInPicture, scene), ("pinned", .pinned(0), scene), ("solo", .solo(4), scene),
        ])
    func picture(name: String, layout: Layout, scene: LayoutScene) throws {
        let compositor = Composer()
        var sources: [SourceID: CompositionSource] = [:]
        for (id, name) in zip(scene.cameras, Self.names) {
            sources[.camera(id)] = CompositionSource(id: .camera(id), name: name, content: .placeholder())
        }
        for id in scene.presenters {
            sources[.screenShare(id)] = CompositionSource(
                id: .screenShare(id), name: "", content: .picture(Self.screen, isStale: false))
        }
        let tiles = layout.layers(of: scene, canvas: Self.canvas)
        let picture = compositor.compose([CompositionRequest(canvas: Self.canvas, layers: tiles)], sources: sources)[0]
        for (index, tile) in tiles.enumerated() where tile.source.content == .camera {
            let corner = picture.colour(x: tile.rect.x, y: tile.rect.y)
            #expect(corner != .background && corner != .bar)
            for other in tiles[..<index] where other.source.content == .camera {
                #expect(picture.colour(x: other.rect.x, y: other.rect.y) != corner, "\(other) looks like \(tile)")
            }
        }
        for tile in tiles where tile.source.content == .screenShare {
            let shown = tile.rect.fitting(Self.screen.dimensions)
            #expect(picture.colour(x: shown.x + 4, y: shown.y + shown.height / 2).y > 220)
        }
        if let folder = ProcessInfo.processInfo.environment["CONFRELAY_PICTURE_DIR"] {
            try small(picture).writePNG(to: "\(folder)/layout-\(name).png")
        }
    }

    /// Small enough for a page of text.
    private func small(_ picture: PixelBuffer) -> PixelBuffer {
        let size = VideoDimensions(width: 480, height: 270)
        let request = CompositionRequest(canvas: size, layers: [CompositionLayer(source: 1, rect: PixelRect(size))])
        return Composer().compose([request], sources: sources(source(1, picture)))[0]
    }

    /// A slide of 16:10: a title, some lines and a chart.
    private static let screen: PixelBuffer = {
        let size = VideoDimensions(width: 1280, height: 800)
        var picture = MutablePixelBuffer(format: .i420, dimensions: size)
        let title = PixelRect(x: 80, y: 70, width: 700, height: 60)
        let lines = (0..<6).map { PixelRect(x: 80, y: 210 + $0 * 80, width: 470 - $0 * 37 % 120, height: 26) }
        let bars = (0..<5).map { index in
            let height = [130, 210, 180, 330, 420][index]
            return PixelRect(x: 680 + index * 104, y: 690 - height, width: 72, height: height)
        }
        picture.withMutablePlanes { planes in
            I420Region(planes: planes, dimensions: size).fill(luma: 235)
            for (rect, luma) in [(title, UInt8(60))] + lines.map({ ($0, 150) }) + bars.map({ ($0, 90) }) {
                I420Region(planes: planes, rect: rect).fill(luma: luma)
            }
        }
        return picture.freeze()
    }()
}
