import MediaCore
import Testing

@testable import Compositing

@Suite("Rectangles")
struct PixelRectTests {
    @Test("the rest of a rectangle without others covers each sample once")
    func subtraction() {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<300 {
            let whole = randomRect(&generator)
            let others = (0..<Int.random(in: 0...5, using: &generator)).map { _ in randomRect(&generator) }
            let parts = whole.subtracting(others)
            for y in 0..<24 {
                for x in 0..<24 {
                    let sample = PixelRect(x: x, y: y, width: 1, height: 1)
                    let isLeft = whole.contains(sample) && !others.contains { $0.contains(sample) }
                    let covered = parts.count { $0.contains(sample) }
                    if covered != (isLeft ? 1 : 0) { Issue.record("\(whole) - \(others) at \(x), \(y): \(covered)") }
                }
            }
        }
    }

    @Test("a fitted picture keeps its shape, touches two sides and is even")
    func fitting() {
        var generator = SeededGenerator(seed: 4)
        for _ in 0..<5000 {
            let tile = PixelRect(
                x: 2 * Int.random(in: 0...100, using: &generator), y: 2 * Int.random(in: 0...100, using: &generator),
                width: 2 * Int.random(in: 1...800, using: &generator),
                height: 2 * Int.random(in: 1...800, using: &generator))
            let size = VideoDimensions(
                width: Int.random(in: 1...4096, using: &generator), height: Int.random(in: 1...4096, using: &generator))
            let fitted = tile.fitting(size)
            let scale = min(Double(tile.width) / Double(size.width), Double(tile.height) / Double(size.height))
            let isSound =
                tile.contains(fitted)
                && [fitted.x, fitted.y, fitted.width, fitted.height].allSatisfy { $0 % 2 == 0 }
                && (fitted.width == tile.width || fitted.height == tile.height)
                && abs(Double(fitted.width) - Double(size.width) * scale) <= 2
                && abs(Double(fitted.height) - Double(size.height) * scale) <= 2
                && abs((fitted.x - tile.x) - (tile.maxX - fitted.maxX)) <= 2
                && abs((fitted.y - tile.y) - (tile.maxY - fitted.maxY)) <= 2
            #expect(isSound, "\(size) in \(tile): \(fitted)")
        }
    }

    private func randomRect(_ generator: inout SeededGenerator) -> PixelRect {
        PixelRect(
            x: Int.random(in: 0...12, using: &generator), y: Int.random(in: 0...12, using: &generator),
            width: Int.random(in: 0...12, using: &generator), height: Int.random(in: 0...12, using: &generator))
    }
}
