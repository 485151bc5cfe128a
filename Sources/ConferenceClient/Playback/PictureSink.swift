import MediaCore
import MediaFiles

/// The destination of a played file's pictures.
protocol PictureSink: AnyObject {
    /// Writes the next picture. Waits for the disk.
    ///
    /// - Throws: `MediaFileError.cannotWrite`.
    func write(_ picture: PixelBuffer) throws(MediaFileError)

    /// Ends the file. Nothing is written afterwards.
    ///
    /// - Throws: `MediaFileError.cannotWrite`.
    func finish() throws(MediaFileError)
}

extension Y4MWriter: PictureSink {}
