/// The number of frames that a decoder delays to give out pictures in presentation order.
public enum PictureReordering: Hashable, Sendable {
    /// The number that the stream's parameter sets and slices demand, which gives the shortest delay. If a stream
    /// denies reordering but reorders, late pictures are dropped.
    case signalled
    /// The number that any stream may need (16, `MaxDpbFrames`, H.264 A.3.1), whatever this one states: no picture
    /// comes too late. For files, whose delay and memory do not matter.
    case complete
}
