/// How many frames a decoder holds back to give pictures out in presentation order.
public enum PictureReordering: Hashable, Sendable {
    /// As many as the stream's parameter sets and slices ask for, which delays a call as little as it can be. Where a
    /// stream says that it does not reorder, and does, pictures that come too late are dropped.
    case signalled
    /// As many as any stream may ask for (16, `MaxDpbFrames`, H.264 A.3.1), whatever this one says: no picture comes
    /// too late. For files, where the delay and the memory do not matter.
    case complete
}
