import MediaCore

/// The destination of a played file's pictures.
protocol PictureSink: AnyObject {
    /// Writes the next picture. Waits for the disk.
    ///
    /// - Throws: `ClientError.outputNotWritable`.
    func write(_ picture: PixelBuffer) throws(ClientError)

    /// Ends the file. Nothing is written afterwards.
    ///
    /// - Throws: `ClientError.outputNotWritable`.
    func finish() throws(ClientError)
}
