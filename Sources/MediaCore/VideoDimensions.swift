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

extension VideoDimensions: CustomStringConvertible {
    public var description: String { "\(width)x\(height)" }
}
