import MediaCore

/// The sender and the number of a frame, drawn into its picture, to be read wherever the picture is shown.
///
/// The mark is a row of 20 cells: a white and a black one, by whose levels the others are judged; the sender, whose
/// cells never change; and the number in Gray code, of which one cell changes from frame to frame. Sender and number
/// have a cell of parity each. So the mark costs an encoder next to nothing.
struct FrameMark: Hashable, Sendable {
    var sender: Int
    var number: Int

    static let senderLimit = 1 << senderBits
    static let numberLimit = 1 << numberBits

    private static let senderBits = 7
    private static let numberBits = 9
    private static let cellCount = 2 + senderBits + 1 + numberBits + 1
    /// The row in a picture of `Workload.sourceDimensions`, off the edges, where a tile may have a frame.
    private static let row = PixelRect(x: 40, y: 40, width: 28 * cellCount, height: 32)
    private static let white: UInt8 = 224
    private static let black: UInt8 = 32
    /// The least difference between white and black.
    private static let leastContrast = 96.0
    /// The least distance of a cell's level from the middle between black and white.
    private static let leastDistance = 0.15

    /// The cells after the white and the black one; true for white.
    private var cells: [Bool] {
        func bits(_ value: Int, _ count: Int) -> [Bool] {
            let bits = (0..<count).reversed().map { value >> $0 & 1 == 1 }
            // Of an even number of white cells the parity is white: never all are black.
            return bits + [bits.count(where: \.self).isMultiple(of: 2)]
        }
        return bits(sender, Self.senderBits) + bits(number ^ number >> 1, Self.numberBits)
    }

    private init?(cells: [Bool]) {
        func value(_ bits: ArraySlice<Bool>) -> Int? {
            guard !bits.count(where: \.self).isMultiple(of: 2) else { return nil }
            return bits.dropLast().reduce(0) { $0 << 1 | ($1 ? 1 : 0) }
        }
        guard let sender = value(cells.prefix(Self.senderBits + 1)),
            let code = value(cells.dropFirst(Self.senderBits + 1))
        else { return nil }
        self.sender = sender
        number = (0..<Self.numberBits).reduce(0) { $0 ^ code >> $1 }
    }

    init(sender: Int, number: Int) {
        self.sender = sender
        self.number = number
    }

    /// Draws the mark into a picture of `Workload.sourceDimensions`.
    func draw(into picture: inout MutablePixelBuffer) {
        picture.withMutablePlane(0) { bytes, stride in
            for (index, isWhite) in ([true, false] + cells).enumerated() {
                let left = Self.row.x + index * Self.row.width / Self.cellCount
                for y in Self.row.y..<Self.row.maxY {
                    let line = bytes[(y * stride + left)...].prefix(Self.row.width / Self.cellCount)
                    UnsafeMutableRawBufferPointer(rebasing: line).initializeMemory(
                        as: UInt8.self, repeating: isWhite ? Self.white : Self.black)
                }
            }
        }
        for plane in 1...2 {
            picture.withMutablePlane(plane) { bytes, stride in
                for y in Self.row.y / 2..<Self.row.maxY / 2 {
                    let line = bytes[(y * stride + Self.row.x / 2)...].prefix(Self.row.width / 2)
                    UnsafeMutableRawBufferPointer(rebasing: line).initializeMemory(as: UInt8.self, repeating: 128)
                }
            }
        }
    }

    /// Reads the mark of the picture that a tile shows whole; nil if there is none that can be read beyond doubt.
    init?(in picture: PixelBuffer, tile: PixelRect) {
        let levels = (0..<Self.cellCount).map { Self.level(of: $0, in: picture, tile: tile) }
        let (white, black) = (levels[0], levels[1])
        guard white - black >= Self.leastContrast else { return nil }
        var cells: [Bool] = []
        for level in levels.dropFirst(2) {
            let share = (level - black) / (white - black)
            guard abs(share - 0.5) >= Self.leastDistance else { return nil }
            cells.append(share > 0.5)
        }
        self.init(cells: cells)
    }

    /// The mean luma of a cell's middle, half of it across and down.
    private static func level(of index: Int, in picture: PixelBuffer, tile: PixelRect) -> Double {
        let source = Workload.sourceDimensions
        let width = Double(row.width) / Double(cellCount)
        let left = Double(row.x) + (Double(index) + 0.25) * width
        let top = Double(row.y) + 0.25 * Double(row.height)
        let (scaleX, scaleY) = (
            Double(tile.width) / Double(source.width), Double(tile.height) / Double(source.height)
        )
        let columns = Int((left * scaleX).rounded())..<Int(((left + width / 2) * scaleX).rounded(.up))
        let rows = Int((top * scaleY).rounded())..<Int(((top + Double(row.height) / 2) * scaleY).rounded(.up))
        var sum = 0
        picture.withPlane(0) { bytes, stride in
            for y in rows { for x in columns { sum += Int(bytes[(tile.y + y) * stride + tile.x + x]) } }
        }
        return Double(sum) / Double(max(1, columns.count * rows.count))
    }
}
