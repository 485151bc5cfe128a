public import MediaCore
import MediaFiles

/// Plays an uncompressed YUV4MPEG2 (`.y4m`) file over and over.
public final class Y4MVideoSource: VideoSource {
    public var dimensions: VideoDimensions { reader.header.dimensions }
    public var frameRate: Double { reader.header.frameRate }

    private let path: String
    private let reader: Y4MReader

    /// Opens a file and reads its header.
    ///
    /// - Throws: `ClientError.unreadableInput`.
    public init(path: String) throws(ClientError) {
        self.path = path
        reader = try ClientError.rethrowing { () throws(MediaFileError) in try Y4MReader(InputFile(path: path)) }
    }

    public func nextFrame(wallClockMilliseconds: Int64) throws(ClientError) -> SourceFrame {
        let picture = try ClientError.rethrowing { () throws(MediaFileError) in
            if let picture = try reader.nextFrame() { return picture as PixelBuffer? }
            try reader.rewind()
            return try reader.nextFrame()
        }
        guard let picture else { throw .unreadableInput(path: path, reason: "it has no frames") }
        return SourceFrame(content: .picture(picture), duration: .nanoseconds(Int64(clamping: 1e9 / frameRate)))
    }
}
