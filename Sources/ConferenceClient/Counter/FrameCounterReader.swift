public import MediaCore

/// A frame counter found in a picture.
public struct FrameCounterReading: Hashable, Sendable {
    public var counter: FrameCounter
    /// The left edge of the strip's cells and the finder row's middle, in luma samples.
    public var x: Double
    public var y: Double
    /// A cell's width in luma samples: how far the strip was scaled.
    public var cellWidth: Double
}

/// Finds and reads the frame counters of synthetic pictures inside a picture, such as a composed grid.
///
/// It needs no layout: it searches for the finder rows at any place and size, and checks the checksum. A counter
/// survives scaling, letterboxing and coarse encoding while a cell is about four luma samples wide. A reader serves one
/// caller at a time; it keeps its working memory from call to call.
public struct FrameCounterReader: Sendable {
    /// Luma above which a sample is white: between video black (16) and white (235), towards black because encoders
    /// smear white cells more.
    private static let threshold: UInt8 = 112
    /// The least width of the cells that are searched for.
    private static let minimumCellWidth = 3.0
    /// More finder rows than there are tiles in any layout mean that the picture is a pattern, not a conference.
    private static let maximumCandidateCount = 256

    /// A finder row, seen on one or more adjacent lines.
    private struct Candidate {
        var left: Double
        var cellWidth: Double
        var firstRow: Int
        var lastRow: Int
    }

    private var edges: [Int32] = []
    private var candidates: [Candidate] = []

    public init() {}

    /// Every counter in `picture`, from top to bottom.
    ///
    /// - Parameter picture: A picture with a luma plane (`i420` or `nv12`); of another format nothing is read.
    public mutating func readings(in picture: PixelBuffer) -> [FrameCounterReading] {
        guard picture.format != .bgra else { return [] }
        let size = picture.dimensions
        let (columns, rows) = (0..<size.width, 0..<size.height)
        guard columns.count > FrameCounterStrip.columnCount else { return [] }
        return picture.withPlane(0) { bytes, stride in
            findCandidates(bytes, stride: stride, columns: columns, rows: rows)
            var found: [FrameCounterReading] = []
            for candidate in candidates {
                if let reading = read(candidate, bytes, stride: stride, columns: columns, rows: rows) {
                    found.append(reading)
                }
            }
            return found
        }
    }

    /// Looks for finder rows on every second line.
    private mutating func findCandidates(
        _ bytes: UnsafeRawBufferPointer, stride: Int, columns: Range<Int>, rows: Range<Int>
    ) {
        candidates.removeAll(keepingCapacity: true)
        for row in Swift.stride(from: rows.lowerBound, to: rows.upperBound, by: 2) {
            findEdges(UnsafeRawBufferPointer(rebasing: bytes[(row * stride)...]), columns: columns)
            // Edges alternate, starting with one from black to white where `edges` begins.
            var index = 0
            while index + FrameCounterStrip.columnCount <= edges.count {
                if let (left, width) = finder(at: index) {
                    record(left: left, cellWidth: width, row: row)
                    index += FrameCounterStrip.columnCount
                } else {
                    index += 2
                }
            }
        }
    }

    /// Lists the edges between black and white in a line, from the first change to white on.
    private mutating func findEdges(_ line: UnsafeRawBufferPointer, columns: Range<Int>) {
        edges.removeAll(keepingCapacity: true)
        var isWhite = line[columns.lowerBound] > Self.threshold
        for column in columns {
            let white = line[column] > Self.threshold
            guard white != isWhite else { continue }
            isWhite = white
            if white || !edges.isEmpty { edges.append(Int32(column)) }
        }
    }

    /// The left edge and cell width of a finder whose first cell starts at edge `index`.
    private func finder(at index: Int) -> (left: Double, cellWidth: Double)? {
        let last = FrameCounterStrip.columnCount - 1
        let left = Double(edges[index])
        let width = (Double(edges[index + last]) - left) / Double(last)
        guard width >= Self.minimumCellWidth else { return nil }
        let tolerance = max(1, width * 0.3)
        for step in 1..<last where abs(Double(edges[index + step]) - (left + Double(step) * width)) > tolerance {
            return nil
        }
        return (left, width)
    }

    private mutating func record(left: Double, cellWidth: Double, row: Int) {
        for index in candidates.indices.reversed() {
            let candidate = candidates[index]
            guard row - candidate.lastRow <= 4, abs(candidate.left - left) <= cellWidth * 0.5,
                abs(candidate.cellWidth - cellWidth) <= cellWidth * 0.1
            else { continue }
            candidates[index].lastRow = row
            return
        }
        guard candidates.count < Self.maximumCandidateCount else { return }
        candidates.append(Candidate(left: left, cellWidth: cellWidth, firstRow: row, lastRow: row))
    }

    private func read(
        _ candidate: Candidate, _ bytes: UnsafeRawBufferPointer, stride: Int, columns: Range<Int>, rows: Range<Int>
    ) -> FrameCounterReading? {
        let middle = Double(candidate.firstRow + candidate.lastRow) / 2
        let cellHeight = candidate.cellWidth * FrameCounterStrip.cellAspect
        // The finder's own middle may be off by a line or two when some of its lines were smeared.
        for offset in [0, -0.25, 0.25] {
            let centre = middle + offset * cellHeight
            var codeWord: UInt64 = 0
            var isInside = true
            for index in 0..<FrameCounter.bitCount {
                let row = centre + Double(1 + index / FrameCounterStrip.columnCount) * cellHeight
                let column =
                    candidate.left + (Double(index % FrameCounterStrip.columnCount) + 0.5) * candidate.cellWidth
                guard
                    let mean = mean(
                        column: column, row: row, width: candidate.cellWidth * 0.5, height: cellHeight * 0.4,
                        bytes, stride: stride, columns: columns, rows: rows)
                else {
                    isInside = false
                    break
                }
                codeWord = codeWord << 1 | (mean > Double(Self.threshold) ? 1 : 0)
            }
            if isInside, let counter = FrameCounter(codeWord: codeWord) {
                return FrameCounterReading(
                    counter: counter, x: candidate.left, y: middle, cellWidth: candidate.cellWidth)
            }
        }
        return nil
    }

    /// The mean luma around a cell's centre; nil if the cell reaches out of the searched part.
    private func mean(
        column: Double, row: Double, width: Double, height: Double, _ bytes: UnsafeRawBufferPointer, stride: Int,
        columns: Range<Int>, rows: Range<Int>
    ) -> Double? {
        let left = Int(column - width / 2)
        let right = max(left, Int(column + width / 2))
        let top = Int(row - height / 2)
        let bottom = max(top, Int(row + height / 2))
        guard left >= columns.lowerBound, right < columns.upperBound, top >= rows.lowerBound,
            bottom < rows.upperBound
        else { return nil }
        var sum = 0
        for y in top...bottom {
            for x in left...right { sum += Int(bytes[y * stride + x]) }
        }
        return Double(sum) / Double((bottom - top + 1) * (right - left + 1))
    }
}
