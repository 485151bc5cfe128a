import MediaCore
import MediaFixtures
import Testing

@testable import Compositing

@Suite("Work that is not done twice")
struct ReuseTests {
    private let canvas = VideoDimensions(width: 640, height: 360)
    private let compositor = Composer()

    @Test("a source is scaled once for all canvases that show it in one size")
    func scaleOnce() {
        let ids = (1...4).map { SourceID.camera(ParticipantID(rawValue: UInt64($0))) }
        let list = Dictionary(
            uniqueKeysWithValues: ids.enumerated().map { ($1, source($1, solidPicture(.numbered($0), 600, 338))) })
        // Everyone sees the three others, all in tiles of 320x180.
        let requests = ids.map { id in CompositionRequest(grid: ids.filter { $0 != id }, canvas: canvas) }
        let pictures = compositor.compose(requests, sources: list)
        #expect(compositor.statistics.scales == 4)
        #expect(compositor.statistics.copies == 8)
        #expect(compositor.statistics.renders == 4)
        for (request, picture) in zip(requests, pictures) {
            for tile in request.instruction.layers {
                #expect(picture.isFilled(tile.rect, with: .numbered(Int(tile.source.participant.rawValue) - 1)))
            }
        }
    }

    @Test("a source is scaled once for each size")
    func scalePerSize() {
        let list = sources(source(1, solidPicture(.red, 600, 338)))
        let sizes = [VideoDimensions(width: 640, height: 360), VideoDimensions(width: 320, height: 180)]
        _ = compositor.compose(sizes.map { CompositionRequest(grid: [1], canvas: $0) }, sources: list)
        #expect(compositor.statistics.scales == 2)
    }

    @Test("a source shown twice on one canvas is scaled once")
    func twiceOnOneCanvas() {
        let request = CompositionRequest(grid: [1, 1], canvas: canvas)
        let picture = compositor.compose([request], sources: sources(source(1, solidPicture(.red, 600, 338))))[0]
        #expect(compositor.statistics.scales == 1)
        #expect(compositor.statistics.copies == 1)
        #expect(picture.isFilled(request.instruction.layers[1].rect, with: .red))
    }

    @Test("a picture that has its tile's size is copied, not scaled")
    func plainCopy() {
        _ = compositor.compose(
            [CompositionRequest(grid: [1], canvas: canvas)], sources: sources(source(1, solidPicture(.red, 640, 360))))
        #expect(compositor.statistics.scales == 0)
        #expect(compositor.statistics.copies == 1)
    }

    @Test("the same request with the same pictures gets the same picture")
    func unchanged() {
        let list = sources(source(1, solidPicture(.red, 160, 90)), placeholder(2, "Ben"))
        let request = CompositionRequest(grid: [1, 2], canvas: canvas)
        let first = compositor.compose([request], sources: list)[0]
        let second = compositor.compose([request], sources: list)[0]
        #expect(first === second)
        #expect(compositor.statistics.renders == 1)
        #expect(compositor.statistics.reuses == 1)
    }

    @Test("equal requests in one call share a picture")
    func equalRequests() {
        let list = sources(source(1, solidPicture(.red, 160, 90)))
        let request = CompositionRequest(grid: [1], canvas: canvas)
        let pictures = compositor.compose([request, request], sources: list)
        #expect(pictures[0] === pictures[1])
        #expect(compositor.statistics.renders == 1)
    }

    @Test("a new picture, a changed flag, a changed name or another layout gets another picture")
    func changed() {
        let (red, blue) = (solidPicture(.red, 160, 90), solidPicture(.blue, 160, 90))
        let request = CompositionRequest(grid: [1, 2], canvas: canvas)
        let swapped = CompositionRequest(grid: [2, 1], canvas: canvas)
        let steps: [(CompositionRequest, [SourceID: CompositionSource])] = [
            (request, sources(source(1, red), placeholder(2, "Ben"))),
            (request, sources(source(1, blue), placeholder(2, "Ben"))),
            (request, sources(source(1, blue, isStale: true), placeholder(2, "Ben"))),
            (request, sources(source(1, blue, isStale: true), placeholder(2, "Cy"))),
            (request, sources(source(1, blue, isStale: true))),
            (swapped, sources(source(1, blue, isStale: true))),
        ]
        var pictures: [PixelBuffer] = []
        for (request, list) in steps { pictures += compositor.compose([request], sources: list) }
        for index in pictures.indices {
            for other in pictures[..<index] { #expect(!(pictures[index] === other)) }
        }
    }

    @Test("unchanged tiles are copied from the last call's canvas")
    func copiedFromLastCall() {
        let still = source(1, solidPicture(.red, 600, 338))
        let request = CompositionRequest(grid: [1, 2], canvas: canvas)
        _ = compositor.compose([request], sources: sources(still, source(2, solidPicture(.green, 600, 338))))
        let scales = compositor.statistics.scales
        let picture = compositor.compose(
            [request], sources: sources(still, source(2, solidPicture(.blue, 600, 338))))[0]
        #expect(compositor.statistics.scales == scales + 1)
        #expect(picture.isFilled(request.instruction.layers[0].rect, with: .red))
        #expect(picture.isFilled(request.instruction.layers[1].rect, with: .blue))
    }

    @Test("a picture handed out is never written again")
    func frozen() {
        let request = CompositionRequest(grid: [1], canvas: canvas)
        let first = compositor.compose([request], sources: sources(source(1, solidPicture(.red, 160, 90))))[0]
        for index in 0..<20 {
            _ = compositor.compose([request], sources: sources(source(1, solidPicture(.numbered(index), 160, 90))))
        }
        #expect(first.isFilled(PixelRect(x: 0, y: 0, width: 640, height: 360), with: .red))
    }

    @Test("no picture memory is allocated in steady state")
    func steadyState() {
        let request = CompositionRequest(grid: [1, 2, 3], canvas: canvas)
        func compose(_ index: Int) {
            let list = sources(
                source(1, solidPicture(.numbered(index), 160, 90)), placeholder(2, "Ben"),
                source(3, solidPicture(.numbered(index), 161, 91, format: .nv12)))
            _ = compositor.compose([request], sources: list)
        }
        for index in 0..<5 { compose(index) }
        let allocations = compositor.statistics.pictureAllocations
        for index in 5..<100 { compose(index) }
        #expect(compositor.statistics.pictureAllocations == allocations)
    }
}
