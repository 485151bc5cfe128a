import MediaCore

extension BitRate {
    /// Creates a rate from a floating-point count of bytes per second.
    init(bytesPerSecond: Double) {
        self.init(bitsPerSecond: bytesPerSecond * 8)
    }

    var bytesPerSecond: Double { Double(bitsPerSecond) / 8 }
}
