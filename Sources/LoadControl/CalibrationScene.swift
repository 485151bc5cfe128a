import MediaCore

/// Pictures for measuring: a static room full of detail with a large moving object in front of it, as a camera in a
/// call sees it. They are the same on every machine.
struct CalibrationScene {
    private let dimensions: VideoDimensions
    /// Wider and higher than the picture, so that a window that moves over it always shows another part.
    private let texture: [UInt8]
    private let stride: Int

    private static let margin = 128

    init(dimensions: VideoDimensions) {
        self.dimensions = dimensions
        stride = dimensions.width + Self.margin
        let rows = dimensions.height + Self.margin
        var random = SeededGenerator(seed: 1)
        // Noise in blocks of four by four, between which it fades: detail that an encoder has to work for.
        let columns = stride / 4 + 2
        let coarse = (0..<columns * (rows / 4 + 2)).map { _ in Int(96 + random.next() % 64) }
        var texture = [UInt8](repeating: 0, count: stride * rows)
        for y in 0..<rows {
            let (row, down) = (y / 4 * columns, y % 4)
            for x in 0..<stride {
                let (column, right) = (row + x / 4, x % 4)
                let upper = coarse[column] * (4 - right) + coarse[column + 1] * right
                let lower = coarse[column + columns] * (4 - right) + coarse[column + columns + 1] * right
                texture[y * stride + x] = UInt8(clamping: (upper * (4 - down) + lower * down) / 16)
            }
        }
        self.texture = texture
    }

    func picture(_ number: Int) -> PixelBuffer {
        var picture = MutablePixelBuffer(format: .i420, dimensions: dimensions)
        let (width, height) = (dimensions.width, dimensions.height)
        let (left, right) = (width / 4 / 2 * 2, width * 3 / 4)
        // A window of the texture that moves three samples each time, and turns back at the margin.
        let phase = number * 3 % (2 * Self.margin)
        let shift = phase < Self.margin ? phase : 2 * Self.margin - phase - 1
        picture.withMutablePlane(0) { bytes, pitch in
            texture.withUnsafeBytes { texture in
                for row in 0..<height {
                    let target = UnsafeMutableRawBufferPointer(rebasing: bytes[row * pitch..<row * pitch + width])
                    let start = row * stride
                    target.copyMemory(from: UnsafeRawBufferPointer(rebasing: texture[start..<start + width]))
                    guard row > height / 4 else { continue }
                    let moved = (row + shift / 2) * stride + left + shift
                    UnsafeMutableRawBufferPointer(rebasing: target[left..<right])
                        .copyMemory(from: UnsafeRawBufferPointer(rebasing: texture[moved..<moved + right - left]))
                }
            }
        }
        for plane in 1...2 {
            picture.withMutablePlane(plane) { bytes, _ in _ = bytes.initializeMemory(as: UInt8.self, repeating: 128) }
        }
        return picture.freeze()
    }
}
