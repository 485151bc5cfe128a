public import MediaCore
import NIOCore

/// Plays an uncompressed YUV4MPEG2 (`.y4m`) file over and over.
public final class Y4MVideoSource: VideoSource {
    public var dimensions: VideoDimensions { header.dimensions }
    public var frameRate: Double { header.frameRate }

    private let file: InputFile
    private let header: Y4MHeader
    private let firstFrameOffset: Int
    private let pool: PixelBufferPool
    private var framesSinceStart = 0

    /// The longest header line that is looked at.
    private static let maximumLineLength = 512

    /// Opens a file and reads its header.
    ///
    /// - Throws: `ClientError.unreadableInput`.
    public convenience init(path: String) throws(ClientError) {
        try self.init(file: InputFile(path: path))
    }

    init(file: InputFile) throws(ClientError) {
        self.file = file
        let line = try Self.readLine(file)
        do {
            header = try Y4MHeader(parsing: line)
        } catch {
            throw .unreadableInput(path: file.path, reason: error.reason)
        }
        firstFrameOffset = line.utf8.count + 1
        pool = PixelBufferPool(format: .i420, dimensions: header.dimensions, configuration: .init(maximumFreeCount: 4))
    }

    public func nextFrame(wallClockMilliseconds: Int64) throws(ClientError) -> SourceFrame {
        var picture = try readFrame()
        if picture == nil, framesSinceStart > 0 {
            try file.seek(to: firstFrameOffset)
            framesSinceStart = 0
            picture = try readFrame()
        }
        guard let picture else { throw .unreadableInput(path: file.path, reason: "it has no frames") }
        framesSinceStart += 1
        return SourceFrame(content: .picture(picture), duration: .nanoseconds(Int64(clamping: 1e9 / frameRate)))
    }

    /// The next frame of the file; nil at its end. An incomplete last frame is left out.
    func readFrame() throws(ClientError) -> PixelBuffer? {
        let line = try Self.readLine(file)
        guard !line.isEmpty else { return nil }
        guard line == "FRAME" || line.hasPrefix("FRAME ") else {
            throw .unreadableInput(path: file.path, reason: "frame \(framesSinceStart + 1) does not start with FRAME")
        }
        let data = try file.read(header.frameSize)
        guard data.readableBytes == header.frameSize else { return nil }
        var picture = pool.makeBuffer()
        picture.attachments.colour.isFullRange = header.isFullRange
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
        return picture.freeze()
    }

    /// Reads up to a line feed; empty at the end of the file.
    private static func readLine(_ file: InputFile) throws(ClientError) -> String {
        var line: [UInt8] = []
        while line.count < maximumLineLength {
            var byte = try file.read(1)
            guard let value = byte.readInteger(as: UInt8.self) else { return "" }
            if value == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
            line.append(value)
        }
        throw .unreadableInput(path: file.path, reason: "a header line is longer than \(maximumLineLength) bytes")
    }
}
