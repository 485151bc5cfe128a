/// The size of a picture in luma samples.
public struct VideoDimensions: Hashable, Sendable {
    public var width: Int
    public var height: Int

    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// Number of luma samples.
    public var area: Int { width * height }
}

extension VideoDimensions {
    /// The invisible deviation of a picture's shape from another.
    public static let invisibleDeviation = 0.02
    /// The shape of a square sample.
    public static let square = VideoDimensions(width: 1, height: 1)
    /// The largest ratio of the sides of a sample as it is shown.
    private static let longestSample = 10

    /// The shape in which samples are shown whose sender says that they have this one: square if the difference cannot
    /// be seen, or this is no shape.
    public var shownSampleShape: VideoDimensions {
        guard width > 0, height > 0,
            Double(abs(width - height)) > Self.invisibleDeviation * Double(max(width, height))
        else { return .square }
        if width / Self.longestSample >= height { return VideoDimensions(width: Self.longestSample, height: 1) }
        if height / Self.longestSample >= width { return VideoDimensions(width: 1, height: Self.longestSample) }
        return self
    }
}

extension VideoDimensions: CustomStringConvertible {
    public var description: String { "\(width)x\(height)" }
}
