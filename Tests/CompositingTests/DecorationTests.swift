import MediaCore
import MediaFixtures
import PixelTransfer
import Testing

@testable import Compositing

@Suite("Labels and borders on tiles")
struct DecorationTests {
    private let canvas = VideoDimensions(width: 640, height: 360)
    private let compositor = Composer()
    private let grey = Colour(y: 120, u: 128, v: 128)

    private func decorated(
        _ id: SourceID, _ name: String, _ picture: PixelBuffer? = nil, _ decoration: TileDecoration = TileDecoration()
    ) -> CompositionSource {
        CompositionSource(
            id: id, name: name, content: picture.map { .picture($0, isStale: false) } ?? .placeholder(),
            decoration: decoration)
    }

    /// Composes until every label is there.
    private func compose(_ request: CompositionRequest, _ list: [SourceID: CompositionSource]) -> PixelBuffer {
        for _ in 0..<request.instruction.layers.count { _ = compositor.compose([request], sources: list) }
        return compositor.compose([request], sources: list)[0]
    }

    /// The samples in which two pictures differ, in luma or colour.
    private func changed(_ left: PixelBuffer, _ right: PixelBuffer) -> [(x: Int, y: Int)] {
        (0..<left.dimensions.height).flatMap { y in
            (0..<left.dimensions.width).filter { left.colour(x: $0, y: y) != right.colour(x: $0, y: y) }.map { ($0, y) }
        }
    }

    @Test("a name is on its plate at the lower left of its tile")
    func label() {
        let picture = solidPicture(grey, 160, 90)
        let request = CompositionRequest(grid: [1, 2], canvas: canvas)
        let plain = compose(request, sources(source(1, picture), source(2, picture)))
        let labelled = compose(request, sources(source(1, picture), decorated(2, "Ada", picture)))
        let differing = changed(plain, labelled)
        let tile = request.instruction.layers[1].rect
        let corner = PixelRect(
            x: tile.x, y: tile.maxY - tile.height / 4, width: tile.width / 2, height: tile.height / 4)
        #expect(differing.count > 300)
        #expect(differing.allSatisfy { corner.contains(PixelRect(x: $0.x, y: $0.y, width: 1, height: 1)) })
        #expect(differing.contains { labelled.colour(x: $0.x, y: $0.y).y > 200 })
        #expect(differing.contains { labelled.colour(x: $0.x, y: $0.y).y < 80 })
    }

    @Test("a long name between round corners ends as far from the right as it begins from the left")
    func roundCorners() throws {
        let picture = solidPicture(grey, 160, 90)
        let tile = PixelRect(x: 100, y: 20, width: 320, height: 320)
        let request = CompositionRequest(
            canvas: canvas, layers: [CompositionLayer(source: 1, rect: tile, fit: .cover, cornerRadius: 160)])
        let name = String(repeating: "Augusta Ada ", count: 5)
        let plain = compose(request, sources(source(1, picture)))
        let labelled = compose(request, sources(decorated(1, name, picture)))
        let columns = changed(plain, labelled).map(\.x)
        let (first, last) = (try #require(columns.min()), try #require(columns.max()))
        #expect(first - tile.x >= 50)
        #expect(tile.maxX - 1 - last >= first - tile.x)
        #expect(tile.maxX - 1 - last <= first - tile.x + 32)
    }

    @Test("nothing is drawn outside a tile, for any name and tile")
    func inside() {
        var random = SeededGenerator(seed: 5)
        let picture = solidPicture(grey, 64, 36)
        for name in LabelTests.hostileNames {
            let rect = PixelRect(
                x: .random(in: -30...250, using: &random), y: .random(in: -30...150, using: &random),
                width: .random(in: 2...160, using: &random), height: .random(in: 2...120, using: &random))
            let request = CompositionRequest(
                canvas: VideoDimensions(width: 321, height: 181), layers: [CompositionLayer(source: 1, rect: rect)])
            let everything = TileDecoration(icons: [.microphoneMuted, .screen], isSpeaking: true)
            let plain = compose(request, sources(source(1, picture)))
            let labelled = compose(request, sources(decorated(1, name, picture, everything)))
            let tile = rect.trimmed(to: request.canvas)
            #expect(
                changed(plain, labelled).allSatisfy {
                    tile.contains(PixelRect(x: $0.x, y: $0.y, width: 1, height: 1))
                })
        }
    }

    @Test("a tile too small for a readable name has no label, but still the speaker's border")
    func small() {
        let picture = solidPicture(grey, 160, 90)
        let request = CompositionRequest(grid: [1], canvas: VideoDimensions(width: 96, height: 54))
        let plain = compose(request, sources(source(1, picture)))
        let named = compose(request, sources(decorated(1, "Ada", picture)))
        #expect(named.hasSameSamples(as: plain))
        let speaking = compose(request, sources(decorated(1, "Ada", picture, TileDecoration(isSpeaking: true))))
        #expect(!speaking.hasSameSamples(as: plain))
    }

    @Test("the speaker's tile has a green border on all four sides, while the speech lasts")
    func border() {
        let picture = solidPicture(grey, 160, 90)
        let request = CompositionRequest(grid: [1, 2], canvas: canvas)
        func compose(isSpeaking: Bool) -> PixelBuffer {
            self.compose(
                request,
                sources(decorated(1, "", picture, TileDecoration(isSpeaking: isSpeaking)), decorated(2, "", picture)))
        }
        let (silent, speaking) = (compose(isSpeaking: false), compose(isSpeaking: true))
        let tile = request.instruction.layers[0].rect
        for (x, y) in [
            (tile.x, tile.y), (tile.maxX - 1, tile.y), (tile.x, tile.maxY - 1), (tile.maxX - 1, tile.maxY - 1),
            (tile.x + 100, tile.y), (tile.x + 100, tile.maxY - 1), (tile.x, tile.y + 50), (tile.maxX - 1, tile.y + 50),
        ] {
            let colour = speaking.colour(x: x, y: y)
            #expect(colour.y > 130 && colour.u < 110 && colour.v < 90)
        }
        let inner = PixelRect(x: tile.x + 2, y: tile.y + 2, width: tile.width - 4, height: tile.height - 4)
        #expect(speaking.isFilled(inner, with: grey))
        #expect(speaking.isFilled(request.instruction.layers[1].rect, with: grey))
        #expect(silent.isFilled(tile, with: grey))
        #expect(compose(isSpeaking: false).hasSameSamples(as: silent))
    }

    @Test("a muted microphone is shown in red")
    func muted() {
        let picture = solidPicture(grey, 160, 90)
        let request = CompositionRequest(grid: [1], canvas: canvas)
        func reddest(_ icons: LabelIcons) -> UInt8 {
            let result = compose(request, sources(decorated(1, "Ada", picture, TileDecoration(icons: icons))))
            return (0..<360).reduce(0) { most, y in (0..<640).reduce(most) { max($0, result.colour(x: $1, y: y).v) } }
        }
        #expect(reddest([]) < 135)
        #expect(reddest(.screen) < 135)
        #expect(reddest(.microphoneMuted) > 170)
    }

    @Test("a placeholder has its label too")
    func placeholderLabel() {
        let request = CompositionRequest(grid: [1], canvas: canvas)
        let plain = compose(request, sources(placeholder(1, "Ada")))
        let labelled = compose(request, sources(decorated(1, "Ada")))
        #expect(changed(plain, labelled).count > 300)
        #expect(changed(plain, labelled).allSatisfy { $0.y > 300 && $0.x < 320 })
    }

    @Test("a label is drawn once, and a picture that shows the same is the same picture")
    func cached() {
        let request = CompositionRequest(grid: [1, 2], canvas: canvas)
        let still = sources(decorated(1, "Ada", solidPicture(.red, 160, 90)), decorated(2, "Ben"))
        let first = compose(request, still)
        #expect(compositor.compose([request], sources: still)[0] === first)
        for index in 0..<20 {
            let moving = sources(
                decorated(
                    1, "Ada", solidPicture(.numbered(index), 160, 90), TileDecoration(isSpeaking: index % 3 == 0)),
                decorated(2, "Ben"))
            #expect(!(compositor.compose([request], sources: moving)[0] === first))
        }
        #expect(compositor.statistics.labelsRendered == 2)
    }

    @Test("labels that there is no time for come with the next pictures")
    func late() {
        let ids = (1...7).map { SourceID.camera(ParticipantID(rawValue: $0)) }
        let picture = solidPicture(grey, 160, 90)
        let list = Dictionary(
            uniqueKeysWithValues: ids.enumerated().map { ($1, decorated($1, "Name \($0)", picture)) })
        let request = CompositionRequest(grid: ids, canvas: canvas)
        var last = compositor.compose([request], sources: list)[0]
        var count = 1
        while count < 20 {
            let next = compositor.compose([request], sources: list)[0]
            if next === last { break }
            last = next
            count += 1
        }
        #expect(count == 4)
        #expect(compositor.statistics.labelsRendered == 7)
        for tile in request.instruction.layers { #expect(!last.isFilled(tile.rect, with: grey)) }
    }

    @Test("another canvas copies the tile with its overlays")
    func copied() {
        let picture = solidPicture(grey, 600, 338)
        let list = sources(
            decorated(1, "Ada", picture, TileDecoration(isSpeaking: true)), decorated(2, "Ben", picture),
            decorated(3, "Cy", picture))
        let requests = [
            CompositionRequest(grid: [1, 2], canvas: canvas), CompositionRequest(grid: [3, 1], canvas: canvas),
        ]
        for _ in 0..<3 { _ = compositor.compose(requests, sources: list) }
        let alone = Composer()
        for _ in 0..<3 { _ = alone.compose([requests[1]], sources: list) }
        let together = compositor.compose(requests, sources: list)[1]
        #expect(together.hasSameSamples(as: alone.compose([requests[1]], sources: list)[0]))
    }

    @Test("a tile with another shape but the same fitted picture is not copied, since its label has another place")
    func shapes() {
        let picture = solidPicture(grey, 160, 90)
        let wide = CompositionRequest(
            canvas: canvas, layers: [CompositionLayer(source: 1, rect: PixelRect(x: 0, y: 0, width: 320, height: 180))])
        let high = CompositionRequest(
            canvas: canvas, layers: [CompositionLayer(source: 1, rect: PixelRect(x: 0, y: 0, width: 320, height: 240))])
        let list = sources(decorated(1, "Ada", picture))
        for _ in 0..<2 { _ = compositor.compose([wide, high], sources: list) }
        let together = compositor.compose([wide, high], sources: list)[1]
        let alone = Composer()
        _ = alone.compose([high], sources: list)
        #expect(together.hasSameSamples(as: alone.compose([high], sources: list)[0]))
    }
}
