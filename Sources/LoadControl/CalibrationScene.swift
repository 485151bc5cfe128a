import MediaCore

/// Pictures for measuring: a static room full of detail with a large moving object in front of it, as a camera in a
/// call sees it. They are the same on every machine.
struct CalibrationScene {
    private let dimensions: VideoDimensions
    /// Wider and higher than the picture, so that a window that moves over it always shows another part.
    private let texture: [UInt8]
    private let stride: Int
    private let isRestless: Bool

    private static let margin = 128
    /// The part of a restless picture's height that is new each time.
    private static let restlessPart = 8
    /// The sides of its pieces, too small to be found again in the last picture.
    private static let pieceSide = 8

    /// - Parameter isRestless: True if a part of each picture is new, as leaves in the wind are: only so does a picture
    ///   take bits at any rate, however good the one before it was.
    init(dimensions: VideoDimensions, isRestless: Bool = false) {
        self.dimensions = dimensions
        self.isRestless = isRestless
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
            if isRestless { scatter(number, into: bytes, pitch) }
        }
        for plane in 1...2 {
            picture.withMutablePlane(plane) { bytes, _ in _ = bytes.initializeMemory(as: UInt8.self, repeating: 128) }
        }
        return picture.freeze()
    }

    /// Fills the uppermost part with pieces from anywhere in the texture.
    private func scatter(_ number: Int, into bytes: UnsafeMutableRawBufferPointer, _ pitch: Int) {
        let side = Self.pieceSide
        var random = SeededGenerator(seed: UInt64(number) + 2)
        texture.withUnsafeBytes { texture in
            let rows = texture.count / stride
            for top in Swift.stride(from: 0, through: dimensions.height / Self.restlessPart - side, by: side) {
                for left in Swift.stride(from: 0, through: dimensions.width - side, by: side) {
                    let place = random.next()
                    let column = Int(place >> 32) % (stride - side)
                    let start = Int(place & 0xFFFF_FFFF) % (rows - side) * stride + column
                    for row in 0..<side {
                        UnsafeMutableRawBufferPointer(rebasing: bytes[(top + row) * pitch + left..<bytes.count])
                            .copyMemory(
                                from: UnsafeRawBufferPointer(
                                    rebasing: texture[start + row * stride..<start + row * stride + side]))
                    }
                }
            }
        }
    }
}
