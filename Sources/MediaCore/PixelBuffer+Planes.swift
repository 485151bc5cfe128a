extension PixelBuffer {
    /// Calls `body` with all planes at once. They must not be written, nor used after `body` returns.
    @inlinable
    public func withPlanes<Result, Failure: Error>(
        _ body: (_ planes: PixelBufferPlanes) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { extendLifetime(self) }
        return try body(planes)
    }

    @usableFromInline
    var planes: PixelBufferPlanes { storage.planes }
}

extension MutablePixelBuffer {
    /// Calls `body` with all planes at once, to write. They must not be used after `body` returns.
    public mutating func withMutablePlanes<Result, Failure: Error>(
        _ body: (_ planes: PixelBufferPlanes) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { extendLifetime(storage) }
        return try body(storage.planes)
    }
}
