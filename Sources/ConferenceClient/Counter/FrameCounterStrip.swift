import MediaCore

/// The place of the frame counter: a black strip along the top edge, with 20 columns of cells between two black ones.
///
/// The first row of cells is the finder: white and black in turn, starting with white. Two rows of data follow, the
/// code word's highest bit first, white for one. A cell is 8:5, so that the finder's width gives the rows' distance.
struct FrameCounterStrip {
    static let columnCount = 20
    static let dataRowCount = 2
    /// A cell's height over its width.
    static let cellAspect = 0.625

    let cellWidth: Int
    let cellHeight: Int
    /// The left edge of the first cell; even, like every edge, so that no chroma sample is divided.
    let left: Int
    let dimensions: VideoDimensions

    /// The strip of a picture of `dimensions`; nil if the picture is too small for one.
    init?(in dimensions: VideoDimensions) {
        let width = dimensions.width / (Self.columnCount + 2) / 2 * 2
        guard width >= 2 else { return nil }
        let height = max(2, Int((Double(width) * Self.cellAspect / 2).rounded()) * 2)
        guard dimensions.height >= height * (Self.dataRowCount + 2) else { return nil }
        cellWidth = width
        cellHeight = height
        left = (dimensions.width - width * Self.columnCount) / 4 * 2
        self.dimensions = dimensions
    }

    /// The strip's height in luma rows.
    var height: Int { cellHeight * (Self.dataRowCount + 1) }

    /// Draws finder and data.
    func draw(_ counter: FrameCounter, into picture: inout MutablePixelBuffer) {
        picture.fill(x: 0, y: 0, width: dimensions.width, height: height, with: .black)
        for column in stride(from: 0, to: Self.columnCount, by: 2) {
            drawCell(row: 0, column: column, into: &picture)
        }
        let codeWord = counter.codeWord
        for index in 0..<FrameCounter.bitCount where codeWord >> UInt64(FrameCounter.bitCount - 1 - index) & 1 == 1 {
            drawCell(
                row: 1 + index / Self.columnCount, column: index % Self.columnCount, into: &picture)
        }
    }

    private func drawCell(row: Int, column: Int, into picture: inout MutablePixelBuffer) {
        picture.fill(
            x: left + column * cellWidth, y: row * cellHeight, width: cellWidth, height: cellHeight, with: .white)
    }
}
