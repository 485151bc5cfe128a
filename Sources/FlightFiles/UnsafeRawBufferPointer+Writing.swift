import Glibc

extension UnsafeRawBufferPointer {
    /// Writes the bytes to a file, with one call if the system takes them all. A signal or a short write does not end
    /// it.
    ///
    /// - Parameter write: As the system's call of this name, which is called where this is nil; tests have it fail.
    /// - Returns: How much was written, and the error number, 0 if that is all.
    public func writeAll(
        to descriptor: CInt, write: ((CInt, UnsafeRawBufferPointer) -> Int)? = nil
    ) -> (count: Int, failure: CInt) {
        var rest = self[...]
        while !rest.isEmpty {
            let bytes = UnsafeRawBufferPointer(rebasing: rest)
            let count = write?(descriptor, bytes) ?? Glibc.write(descriptor, bytes.baseAddress, bytes.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return (self.count - rest.count, count < 0 ? errno : EIO) }
            rest = rest.dropFirst(count)
        }
        return (self.count, 0)
    }
}
