/// The rotation that makes a picture upright.
///
/// Phones send their sensor's pictures unchanged and state the rotation in the header extension "coordination of video
/// orientation" (3GPP TS 26.114, 7.4.5).
public enum VideoRotation: UInt8, Hashable, Sendable, CaseIterable {
    /// The picture is upright.
    case none = 0
    /// A quarter turn clockwise.
    case clockwise90 = 1
    /// A rotation by half a turn.
    case rotate180 = 2
    /// Three quarters of a turn clockwise, which is one counter-clockwise.
    case clockwise270 = 3

    /// True if width and height are exchanged.
    public var swapsDimensions: Bool { self == .clockwise90 || self == .clockwise270 }

    /// The size of the picture once it stands upright.
    public func upright(_ dimensions: VideoDimensions) -> VideoDimensions {
        swapsDimensions ? VideoDimensions(width: dimensions.height, height: dimensions.width) : dimensions
    }
}
