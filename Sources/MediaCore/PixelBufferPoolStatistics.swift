/// The work of a pool since it was made, and its present state.
public struct PixelBufferPoolStatistics: Hashable, Sendable {
    /// The number of allocated pictures, those at the start too.
    public var allocated = 0
    /// Times that a picture was handed out again.
    public var recycled = 0
    /// Pictures that were unused for too long and were released.
    public var agedOut = 0
    /// Pictures that are in use now.
    public var inUse = 0
    /// Pictures that nobody holds now.
    public var free = 0

    public init() {}
}
