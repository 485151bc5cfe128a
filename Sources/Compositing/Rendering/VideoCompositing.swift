public import MediaCore

/// A compositor: makes one picture of many sources according to an instruction.
///
/// It follows AVFoundation's `AVVideoCompositing`. A `CompositionRenderer` calls it and does the work that is common to
/// all compositors: it converts pictures to accepted formats, returns sources' own pictures if nothing is to be
/// composed and the last picture if nothing has changed, pools destinations, and falls back on the last good picture
/// after an error. `LayerCompositor` is the built-in one.
///
/// A compositor belongs to one caller at a time.
public protocol VideoCompositing: AnyObject {
    /// The requirements for sources' pictures. Others are converted before this compositor gets them.
    var sourceAttributes: PixelBufferAttributes { get }
    /// The requirements for destinations, except their size.
    var destinationAttributes: PixelBufferAttributes { get }

    /// Renders a picture of the canvas's size, into a destination of the request.
    ///
    /// - Throws: The reason for which there is none. Receivers continue to see the last good picture.
    func render(_ request: VideoCompositionRequest) throws(VideoCompositingError) -> PixelBuffer
}

/// The reason for which a picture was not composed.
public enum VideoCompositingError: Error, Hashable, Sendable {
    /// The compositor cannot do without a source of which there is nothing.
    case sourceMissing(SourceID)
    /// The picture was not wanted any more.
    case cancelled
    /// Another failure.
    case failed(reason: String)
}

extension VideoCompositingError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .sourceMissing(let source):
            "the compositor needs the \(source), of which there is nothing; name it among the instruction's required"
                + " sources and give its picture with the inputs"
        case .cancelled:
            "the composition was cancelled before it was done"
        case .failed(let reason):
            "the compositor failed: \(reason)"
        }
    }
}
