import MediaCore
import Testing

@testable import Compositing

@Suite("Grid layout")
struct GridLayoutTests {
    private let hd = VideoDimensions(width: 1280, height: 720)

    @Test("one source takes the whole canvas")
    func one() {
        #expect(GridLayout.cells(count: 1, canvas: hd) == [PixelRect(x: 0, y: 0, width: 1280, height: 720)])
    }

    @Test("two sources are side by side, centred")
    func two() {
        #expect(
            GridLayout.cells(count: 2, canvas: hd) == [
                PixelRect(x: 0, y: 180, width: 640, height: 360), PixelRect(x: 640, y: 180, width: 640, height: 360),
            ])
    }

    @Test("the third of three sources is centred below the others")
    func three() {
        #expect(
            GridLayout.cells(count: 3, canvas: hd) == [
                PixelRect(x: 0, y: 0, width: 640, height: 360), PixelRect(x: 640, y: 0, width: 640, height: 360),
                PixelRect(x: 320, y: 360, width: 640, height: 360),
            ])
    }

    @Test("two sources are one above the other on an upright canvas")
    func upright() {
        #expect(
            GridLayout.cells(count: 2, canvas: VideoDimensions(width: 720, height: 1280)) == [
                PixelRect(x: 0, y: 236, width: 720, height: 404), PixelRect(x: 0, y: 640, width: 720, height: 404),
            ])
    }

    @Test(
        "tiles are exact fractions of the canvas",
        arguments: [(1, 1280, 720), (4, 640, 360), (6, 426, 240), (9, 426, 240), (16, 320, 180), (25, 256, 144)])
    func fractions(count: Int, width: Int, height: Int) {
        for cell in GridLayout.cells(count: count, canvas: hd) {
            #expect(cell.width == width && cell.height == height)
        }
    }

    @Test("cells have even sides and one size, lie inside the canvas, and do not overlap")
    func geometry() {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<3000 {
            let (count, canvas) = randomCase(&generator)
            let cells = GridLayout.cells(count: count, canvas: canvas)
            let whole = PixelRect(x: 0, y: 0, width: canvas.width, height: canvas.height)
            let isSound =
                cells.count == count
                && cells.allSatisfy { cell in
                    whole.contains(cell) && cell.width == cells[0].width && cell.height == cells[0].height
                        && [cell.x, cell.y, cell.width, cell.height].allSatisfy { $0 % 2 == 0 } && cell.area > 0
                }
                && cells.indices.allSatisfy { index in !cells[..<index].contains { $0.overlaps(cells[index]) } }
            #expect(isSound, "\(count) on \(canvas): \(cells)")
        }
    }

    @Test("no other grid of rows and columns fills more of the canvas, for 1 to 49 on any canvas")
    func bestFill() {
        var generator = SeededGenerator(seed: 2)
        for round in 0..<1470 {
            let (_, canvas) = randomCase(&generator)
            let count = 1 + round % 49
            var best = 0
            for rows in 1...count {
                for columns in 1...count where rows * columns >= count {
                    best = max(best, largestTile(rows: rows, columns: columns, canvas: canvas).area)
                }
            }
            let cell = GridLayout.cells(count: count, canvas: canvas)[0]
            #expect(cell.area == best, "\(count) on \(canvas)")
            // 16:9, except for less than two samples by which each side was rounded down to an even number.
            #expect(abs(cell.width * 9 - cell.height * 16) <= 2 * 16, "\(count) on \(canvas): \(cell)")
        }
    }

    /// The largest 16:9 tile that fits in so many rows and columns, its sides rounded down to even numbers.
    private func largestTile(rows: Int, columns: Int, canvas: VideoDimensions) -> VideoDimensions {
        let byWidth = Double(canvas.width) / Double(columns)
        let byHeight = Double(canvas.height) / Double(rows) * 16 / 9
        func even(_ exact: Double) -> Int { Int((exact + 1e-9) / 2) * 2 }
        return VideoDimensions(width: even(min(byWidth, byHeight)), height: even(min(byWidth, byHeight) * 9 / 16))
    }

    @Test("every row is centred, and only the last one can be shorter")
    func centredRows() {
        for count in 1...49 {
            let rows = Dictionary(grouping: GridLayout.cells(count: count, canvas: hd), by: \.y)
                .sorted { $0.key < $1.key }.map(\.value)
            for row in rows {
                let left = row.map(\.x).min() ?? 0
                let right = hd.width - (row.map(\.maxX).max() ?? 0)
                #expect(abs(left - right) <= 3)
            }
            #expect(rows.dropLast().allSatisfy { $0.count == rows[0].count })
            #expect((rows.last?.count ?? 0) <= rows[0].count)
        }
    }

    @Test("there are no cells for no sources, nor on a canvas that is too small")
    func none() {
        #expect(GridLayout.cells(count: 0, canvas: hd).isEmpty)
        #expect(GridLayout.cells(count: -1, canvas: hd).isEmpty)
        #expect(GridLayout.cells(count: 25, canvas: VideoDimensions(width: 4, height: 4)).isEmpty)
    }

    private func randomCase(_ generator: inout SeededGenerator) -> (count: Int, canvas: VideoDimensions) {
        let canvas = VideoDimensions(
            width: Int.random(in: 120...4096, using: &generator), height: Int.random(in: 120...4096, using: &generator))
        return (Int.random(in: 1...49, using: &generator), canvas)
    }
}
