public import MediaCore
import NIOCore

/// Reads the pictures of an uncompressed YUV4MPEG2 (`.y4m`) file: 8-bit 4:2:0, progressive.
public final class Y4MReader {
    public let header: Y4MHeader
    private let file: InputFile
    private let firstFrameOffset: Int
    private let pool: PixelBufferPool
    /// Frames read since the start of the file.
    private var frameCount = 0

    /// The longest header line that is looked at.
    private static let maximumLineLength = 512

    /// Reads the header.
    ///
    /// - Throws: `MediaFileError.cannotOpen`.
    public init(_ file: InputFile) throws(MediaFileError) {
        self.file = file
        let line = try Self.readLine(file)
        do {
            header = try Y4MHeader(parsing: String(decoding: line, as: UTF8.self))
        } catch {
            throw .cannotOpen(path: file.path, reason: error.reason)
        }
        // Counted in the file's own bytes: a comment need not be UTF-8.
        firstFrameOffset = line.count + 1
        pool = PixelBufferPool(format: .i420, dimensions: header.dimensions, configuration: .init(maximumFreeCount: 4))
    }

    /// Goes back to the first frame. Not for memory.
    ///
    /// - Throws: `MediaFileError.cannotOpen`.
    public func rewind() throws(MediaFileError) {
        try file.seek(to: firstFrameOffset)
        frameCount = 0
    }

    /// The next frame of the file; nil at its end. An incomplete last frame is left out.
    ///
    /// - Throws: `MediaFileError.cannotOpen`.
    public func nextFrame() throws(MediaFileError) -> PixelBuffer? {
        let line = String(decoding: try Self.readLine(file), as: UTF8.self)
        guard !line.isEmpty else { return nil }
        guard line == "FRAME" || line.hasPrefix("FRAME ") else {
            throw .cannotOpen(path: file.path, reason: "frame \(frameCount + 1) does not start with FRAME")
        }
        let data = try file.read(header.frameSize)
        guard data.readableBytes == header.frameSize else { return nil }
        var picture = pool.makeBuffer()
        picture.attachments.colour.isFullRange = header.isFullRange
        picture.attachments.pixelAspectRatio = header.pixelAspectRatio
        var offset = 0
        data.withUnsafeReadableBytes { bytes in
            for plane in 0..<3 {
                let (rowBytes, rows) = PixelFormat.i420.planeSize(plane, of: header.dimensions)
                picture.withMutablePlane(plane) { target, stride in
                    for row in 0..<rows {
                        UnsafeMutableRawBufferPointer(rebasing: target[(row * stride)..<(row * stride + rowBytes)])
                            .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + rowBytes)]))
                        offset += rowBytes
                    }
                }
            }
        }
        frameCount += 1
        return picture.freeze()
    }

    /// Reads up to a line feed; empty at the end of the file.
    private static func readLine(_ file: InputFile) throws(MediaFileError) -> [UInt8] {
        var line: [UInt8] = []
        while line.count < maximumLineLength {
            var byte = try file.read(1)
            guard let value = byte.readInteger(as: UInt8.self) else { return [] }
            if value == UInt8(ascii: "\n") { return line }
            line.append(value)
        }
        throw .cannotOpen(path: file.path, reason: "a header line is longer than \(maximumLineLength) bytes")
    }
}
