/// Memory of a device that holds a picture's samples.
public protocol PictureSurface: AnyObject, Sendable {
    /// Copies the samples into memory; nil where the device does not give them.
    ///
    /// - Parameters:
    ///   - format: The picture's.
    ///   - dimensions: The picture's; its samples begin at the memory's.
    func copySamples(format: PixelFormat, dimensions: VideoDimensions) -> PixelBuffer?
}
