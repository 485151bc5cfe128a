import MediaCore

/// Video that an encoder has to work for: four quadrants of a seeded texture that move in different directions.
struct MovingPattern {
    let dimensions: VideoDimensions
    /// Changes the whole picture.
    var scene = 0

    init(_ dimensions: VideoDimensions) {
        self.dimensions = dimensions
    }

    func picture(_ number: Int) -> PixelBuffer {
        var buffer = MutablePixelBuffer(format: .i420, dimensions: dimensions)
        for plane in 0..<3 {
            let (width, rows) = PixelFormat.i420.planeSize(plane, of: dimensions)
            buffer.withMutablePlane(plane) { bytes, stride in
                for y in 0..<rows {
                    let isLower = y >= rows / 2
                    let row = bytes.baseAddress! + y * stride
                    let vertical = isLower ? number * 2 : 0
                    let source = (y + vertical + scene * 97) % Texture.period
                    let left = (isLower ? 40 : number * 2) + plane * 71 + scene * 31
                    let right = (isLower ? number : -number * 3 + 3 * 4096) + plane * 71 + scene * 31
                    Texture.shared.copy(row: source, from: left, count: width / 2, isChroma: plane > 0, to: row)
                    Texture.shared.copy(
                        row: source, from: right, count: width - width / 2, isChroma: plane > 0, to: row + width / 2)
                }
            }
        }
        return buffer.freeze()
    }
}

/// Smooth noise that repeats every `period` samples, wide enough that rows are copied in one go.
private struct Texture {
    static let period = 256
    static let width = period + 1408
    static let shared = Texture()

    private let luma: [UInt8]
    private let chroma: [UInt8]

    init() {
        var generator = SeededGenerator(seed: 7)
        let period = Self.period
        let coarse = (0..<32 * 32).map { _ in Int(generator.next() & 127) }
        let fine = (0..<128 * 128).map { _ in Int(generator.next() & 63) }
        var luma = [UInt8](repeating: 0, count: Self.width * period)
        var chroma = luma
        for y in 0..<period {
            for x in 0..<period {
                // Bilinear between the points of the coarse grid, plus the fine one.
                let (gridX, gridY, fractionX, fractionY) = (x / 8, y / 8, x % 8, y % 8)
                let (nextX, nextY) = ((gridX + 1) % 32, (gridY + 1) % 32)
                let top = coarse[gridY * 32 + gridX] * (8 - fractionX) + coarse[gridY * 32 + nextX] * fractionX
                let bottom = coarse[nextY * 32 + gridX] * (8 - fractionX) + coarse[nextY * 32 + nextX] * fractionX
                let value = 32 + (top * (8 - fractionY) + bottom * fractionY) / 64 + fine[y / 2 * 128 + x / 2]
                for repetition in stride(from: x, to: Self.width, by: period) {
                    luma[y * Self.width + repetition] = UInt8(value)
                    chroma[y * Self.width + repetition] = UInt8(128 + (value - 128) / 4)
                }
            }
        }
        self.luma = luma
        self.chroma = chroma
    }

    func copy(row: Int, from x: Int, count: Int, isChroma: Bool, to target: UnsafeMutableRawPointer) {
        // The remainder of a negative position is negative.
        let start = row * Self.width + (x % Self.period + Self.period) % Self.period
        precondition(count <= Self.width - Self.period, "a half of a picture is wider than the texture")
        (isChroma ? chroma : luma).withUnsafeBytes { bytes in
            target.copyMemory(from: bytes.baseAddress! + start, byteCount: count)
        }
    }
}
