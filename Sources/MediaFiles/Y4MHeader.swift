public import MediaCore

/// The stream header of a YUV4MPEG2 file: one line of space-separated parameters, each a letter and a value.
public struct Y4MHeader: Hashable, Sendable {
    public var dimensions: VideoDimensions
    /// Frames per second.
    public var frameRate: Double
    /// Width and height of a sample, as shown; 1:1 if the file does not say.
    public var pixelAspectRatio = VideoDimensions.square
    /// True if luma goes from 0 to 255. The format says nothing else about colour.
    public var isFullRange = false

    /// The largest size of a picture; larger ones are refused.
    static let maximumDimension = 8192
    static let magic = "YUV4MPEG2"
    /// The comment with which ffmpeg and other programs state the range.
    static let fullRange = "XCOLORRANGE=FULL"
    static let limitedRange = "XCOLORRANGE=LIMITED"

    /// Bytes of one frame: planar 4:2:0, chroma rounded up.
    public var frameSize: Int {
        (0..<3).reduce(0) { sum, plane in
            let (rowBytes, rows) = PixelFormat.i420.planeSize(plane, of: dimensions)
            return sum + rowBytes * rows
        }
    }

    /// Parses the line, without its line feed.
    ///
    /// - Throws: A `Y4MError` that describes the mistake.
    init(parsing line: String) throws(Y4MError) {
        let fields = line.split(separator: " ")
        guard fields.first.map(String.init) == Self.magic else { throw Y4MError(reason: "it is no YUV4MPEG2 file") }
        var width: Int?
        var height: Int?
        var rate = 30.0
        for field in fields.dropFirst() {
            let value = field.dropFirst()
            switch field.first {
            case "W": width = Int(value)
            case "H": height = Int(value)
            case "F":
                let parts = value.split(separator: ":")
                guard parts.count == 2, let numerator = Int32(parts[0]), let denominator = Int32(parts[1]),
                    numerator > 0, denominator > 0
                else { throw Y4MError(reason: "its frame rate F\(value) is not two numbers, such as F30:1") }
                rate = Double(numerator) / Double(denominator)
            case "C":
                // 420, 420jpeg, 420mpeg2 and 420paldv differ in where chroma is sited; 420p10 and such are deeper.
                guard ["420", "420jpeg", "420mpeg2", "420paldv"].contains(value) else {
                    throw Y4MError(
                        reason: "its colour space C\(value) is not supported; convert it to 8-bit 4:2:0 (C420)")
                }
            case "A": pixelAspectRatio = Self.sampleShape(value)
            case "I":
                guard ["p", "?"].contains(value) else { throw Y4MError(reason: "it is interlaced (I\(value))") }
            case "X" where field == Self.fullRange: isFullRange = true
            default: break
            }
        }
        guard let width, let height, (2...Self.maximumDimension).contains(width),
            (2...Self.maximumDimension).contains(height)
        else { throw Y4MError(reason: "its size is missing or not within 2…\(Self.maximumDimension)") }
        guard (0.1...1000).contains(rate) else { throw Y4MError(reason: "its frame rate is out of range") }
        dimensions = VideoDimensions(width: width, height: height)
        frameRate = rate
    }

    /// Reads a ratio such as 64:45, of numbers that an SPS can hold; 0:0 means that the shape is unknown.
    private static func sampleShape(_ value: Substring) -> VideoDimensions {
        let parts = value.split(separator: ":").map { UInt16($0) ?? 0 }
        guard parts.count == 2, parts[0] > 0, parts[1] > 0 else { return .square }
        return VideoDimensions(width: Int(parts[0]), height: Int(parts[1]))
    }
}

/// A mistake in a YUV4MPEG2 file.
struct Y4MError: Error, Hashable {
    var reason: String
}
