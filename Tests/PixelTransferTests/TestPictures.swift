import MediaCore

@testable import PixelTransfer

let formats: [PixelFormat] = [.i420, .nv12, .bgra]

/// Every pair of formats, equal ones too.
let formatPairs = formats.flatMap { source in formats.map { (source, $0) } }

/// Makes a picture whose bytes are `sample(plane, x, y)`, x counting bytes.
func makePicture(
    _ format: PixelFormat, _ width: Int, _ height: Int, colour: ColourDescription = .unspecified,
    _ sample: (_ plane: Int, _ x: Int, _ y: Int) -> UInt8
) -> PixelBuffer {
    let dimensions = VideoDimensions(width: width, height: height)
    var picture = MutablePixelBuffer(format: format, dimensions: dimensions)
    picture.attachments.colour = colour
    for plane in 0..<format.planeCount {
        let (rowBytes, rows) = format.planeSize(plane, of: dimensions)
        picture.withMutablePlane(plane) { bytes, stride in
            for y in 0..<rows {
                for x in 0..<rowBytes { bytes[y * stride + x] = sample(plane, x, y) }
            }
        }
    }
    return picture.freeze()
}

/// A picture of one colour.
func solid(
    _ format: PixelFormat, _ width: Int, _ height: Int, _ values: [UInt8], colour: ColourDescription = .unspecified
) -> PixelBuffer {
    makePicture(format, width, height, colour: colour) { plane, x, _ in
        switch format {
        case .i420: values[plane]
        case .nv12: plane == 0 ? values[0] : values[1 + x % 2]
        case .bgra: values[x % 4]
        }
    }
}

/// A picture whose colours change slowly from place to place.
func gradient(
    _ format: PixelFormat, _ width: Int, _ height: Int, colour: ColourDescription = .unspecified
) -> PixelBuffer {
    func ramp(_ position: Int, _ count: Int, _ low: Int, _ high: Int) -> UInt8 {
        UInt8(clamping: low + (high - low) * position / max(count - 1, 1))
    }
    let (chromaWidth, chromaHeight) = ((width + 1) / 2, (height + 1) / 2)
    return makePicture(format, width, height, colour: colour) { plane, x, y in
        switch (format, plane) {
        case (.bgra, _):
            switch x % 4 {
            case 0: ramp(x / 4, width, 60, 190)
            case 1: ramp(y, height, 70, 180)
            case 2: ramp(x / 4 * height + y * width, 2 * width * height, 50, 200)
            default: 255
            }
        case (_, 0): ramp(x * height + y * width, 2 * width * height, 80, 170)
        case (.i420, 1): ramp(x, chromaWidth, 100, 150)
        case (.i420, _): ramp(y, chromaHeight, 105, 155)
        default: x % 2 == 0 ? ramp(x / 2, chromaWidth, 100, 150) : ramp(y, chromaHeight, 105, 155)
        }
    }
}

func noise(_ format: PixelFormat, _ width: Int, _ height: Int, seed: UInt64) -> PixelBuffer {
    var generator = SeededGenerator(seed: seed)
    return makePicture(format, width, height) { _, _, _ in UInt8.random(in: 0...255, using: &generator) }
}

extension PixelBuffer {
    /// The bytes of a plane's rows, without the padding between them.
    func samples(_ plane: Int) -> [UInt8] {
        let (rowBytes, rows) = format.planeSize(plane, of: dimensions)
        return withPlane(plane) { bytes, stride in
            (0..<rows).flatMap { row in bytes[(row * stride)..<(row * stride + rowBytes)] }
        }
    }

    var allSamples: [[UInt8]] { (0..<planeCount).map(samples) }

    /// The largest difference between samples of two pictures of one format and size.
    func largestDifference(from other: PixelBuffer) -> Int {
        guard format == other.format, dimensions == other.dimensions else { return .max }
        return zip(allSamples.joined(), other.allSamples.joined()).reduce(0) { max($0, abs(Int($1.0) - Int($1.1))) }
    }

    var isAlignedTo64: Bool { PixelBufferAttributes(rowAlignment: 64).isSatisfied(by: self) }

    /// The picture in memory whose rows are `padding` bytes longer than needed and begin `offset` bytes behind an
    /// aligned address. What lies between rows is filled with `filler`.
    func placed(offset: Int = 0, padding: Int = 0, filler: UInt8 = 0xEE) -> PixelBuffer {
        let memory = (0..<planeCount).map { plane -> (base: UnsafeMutableRawPointer, plane: PixelBufferPlane) in
            let (rowBytes, rows) = format.planeSize(plane, of: dimensions)
            let stride = rowBytes + padding
            let base = UnsafeMutableRawPointer.allocate(byteCount: offset + stride * rows, alignment: 64)
            base.initializeMemory(as: UInt8.self, repeating: filler, count: offset + stride * rows)
            for (row, bytes) in (0..<rows).map({ ($0, samples(plane)[($0 * rowBytes)..<(($0 + 1) * rowBytes)]) }) {
                for (column, byte) in bytes.enumerated() {
                    base.storeBytes(of: byte, toByteOffset: offset + row * stride + column, as: UInt8.self)
                }
            }
            return (base, PixelBufferPlane(base: base + offset, stride: stride, rows: rows))
        }
        let planes = PixelBufferPlanes(
            memory[0].plane, memory.count > 1 ? memory[1].plane : nil, memory.count > 2 ? memory[2].plane : nil)
        let addresses = memory.map { UInt(bitPattern: $0.base) }
        return PixelBuffer(wrapping: planes, format: format, dimensions: dimensions, attachments: attachments) {
            for address in addresses { UnsafeMutableRawPointer(bitPattern: address)?.deallocate() }
        }
    }
}

func attributes(
    _ formats: PixelFormat..., size: (Int, Int)? = nil, rowAlignment: Int = 1
) -> PixelBufferAttributes {
    PixelBufferAttributes(
        formats: formats, dimensions: size.map { VideoDimensions(width: $0.0, height: $0.1) },
        rowAlignment: rowAlignment)
}

func transfer(_ picture: PixelBuffer, to attributes: PixelBufferAttributes) throws -> PixelBuffer {
    try PixelTransferSession(destination: attributes).transfer(picture)
}
