public import MediaCore

extension MutablePixelBuffer {
    /// Calls `body` with all of an I420 picture as a region, which must not be used after `body` returns.
    public mutating func withI420Region<Result, Failure: Error>(
        _ body: (_ region: I420Region) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        precondition(format == .i420, "a picture of three planes")
        let dimensions = dimensions
        return try withMutablePlanes { planes throws(Failure) in
            try body(I420Region(planes: planes, dimensions: dimensions))
        }
    }
}
