public import MediaCore

/// A compositor: makes one picture out of those of many sources, as an instruction says.
///
/// The idea is that of AVFoundation's `AVVideoCompositing`. A `CompositionRenderer` calls it, and does all that is the
/// same for every compositor: it converts pictures of formats that this one does not accept, hands out the sources' own
/// pictures where nothing is to be composed and the last picture where nothing has changed, pools destinations, and
/// falls back on the last good picture when there is an error. `LayerCompositor` is the one that is built in.
///
/// Belongs to one caller at a time.
public protocol VideoCompositing: AnyObject {
    /// What the sources' pictures must be like. Others are converted before this compositor gets to see them.
    var sourceAttributes: PixelBufferAttributes { get }
    /// What destinations must be like, their size aside.
    var destinationAttributes: PixelBufferAttributes { get }

    /// Renders a picture of the canvas's size, into a destination of the request.
    ///
    /// - Throws: Why there is none. The receivers go on seeing the last good picture.
    func render(_ request: VideoCompositionRequest) throws(VideoCompositingError) -> PixelBuffer
}

/// Why a picture was not composed.
public enum VideoCompositingError: Error, Hashable, Sendable {
    /// The compositor cannot do without a source of which there is nothing.
    case sourceMissing(SourceID)
    /// The picture was not wanted any more.
    case cancelled
    /// Anything else.
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
