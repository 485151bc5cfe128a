import MediaCore
import Testing

@testable import confbench

@Suite("Marks of frames")
struct FrameMarkTests {
    private let whole = PixelRect(Workload.sourceDimensions)

    @Test("every sender and every number is read as it was drawn")
    func everyValue() {
        for number in 0..<FrameMark.numberLimit {
            let mark = FrameMark(sender: number % FrameMark.senderLimit, number: number)
            #expect(FrameMark(in: MarkedGrid.marked(mark), tile: whole) == mark)
        }
    }

    @Test(
        "marks are read exactly in the tiles of large grids, with names and frames, however coarsely they are coded",
        arguments: [(4, 51), (9, 44), (36, 40)])
    func coarse(count: Int, quantizer: Int) throws {
        let grid = try MarkedGrid(count: count, quantizer: quantizer)
        var read = 0
        for frame in 0..<24 {
            // Each tile is at another place of the clip.
            let marks = (0..<count).map { FrameMark(sender: $0, number: (frame + 13 * $0) % MovingScene.period) }
            let sample = try #require(try grid.encode(marks.map(MarkedGrid.marked), number: frame))
            let picture = try #require(grid.decode(sample))
            for (cell, mark) in zip(grid.cells, marks) {
                guard let found = FrameMark(in: picture, tile: cell) else { continue }
                #expect(found == mark)
                read += 1
            }
        }
        #expect(read >= 24 * count * 99 / 100)
    }

    @Test("a picture without a mark, or with a mark behind a veil, shows none")
    func unreadable() {
        for number in 0..<MovingScene.period {
            #expect(FrameMark(in: MarkedGrid.scene.picture(number), tile: whole) == nil)
        }
        let picture = MarkedGrid.marked(FrameMark(sender: 5, number: 77))
        // A grey veil over all samples leaves too little contrast.
        var veiled = picture.part(whole)
        veiled.withMutablePlane(0) { bytes, _ in
            for index in bytes.indices { bytes[index] = 96 + bytes[index] / 4 }
        }
        #expect(FrameMark(in: veiled.freeze(), tile: whole) == nil)
    }
}
