public import MediaCore
public import VideoCoding

/// What a media flow encodes and decodes: real pictures, or frames of which only the sizes are as of real ones.
///
/// The simulation makes the latter itself; a program gives it a codec for the former. It is used by one flow, which
/// calls it in the order of time.
public protocol PictureCodec: AnyObject {
    /// Encodes the next picture of the source.
    ///
    /// - Parameters:
    ///   - frame: the number by which `receive` knows it again; numbers grow.
    ///   - time: when it was captured, since the simulation began.
    ///   - target: the rate of frames without packets' headers.
    /// - Returns: The frame; nil where the encoder leaves it out.
    func encode(
        frame: Int, at time: Duration, target: BitRate, isKeyframe: Bool
    ) throws(PictureCodecError) -> EncodedFrame?

    /// The next picture of the source is not encoded: the sender has no room for it.
    func skipPicture() throws(PictureCodecError)

    /// Decodes a frame that arrived with all that it refers to.
    func receive(_ sample: SampleBuffer, frame: Int) throws(PictureCodecError)

    /// The content changes: the next frame is `factor` times as large as the target allows.
    func contentChanged(factor: Double)

    /// How near the received pictures came to the source; nil before the first.
    var quality: ReceivedPictureQuality? { get }

    /// How many keyframes were made.
    var keyframeCount: Int { get }
}

extension PictureCodec {
    /// Real pictures are as large as their content makes them.
    public func contentChanged(factor: Double) {}
}

/// Makes the codec of a flow, whose encoder's configuration says how many frames there are a second.
public typealias PictureCodecMaker = (PictureCoding, EncoderModel.Configuration) throws(PictureCodecError) ->
    any PictureCodec

/// How near received pictures came to those that were sent.
public struct ReceivedPictureQuality: Hashable, Sendable {
    public var pictureCount: Int
    /// Of the luma's mean squared error over all pictures, in dB.
    public var psnr: Double
    /// Structural similarity of the luma, the mean over all pictures.
    public var ssim: Double

    public init(pictureCount: Int, psnr: Double, ssim: Double) {
        self.pictureCount = pictureCount
        self.psnr = psnr
        self.ssim = ssim
    }
}

/// Why real pictures could not be sent.
public struct PictureCodecError: Error, Hashable, Sendable, CustomStringConvertible {
    public var reason: String

    public init(reason: String) {
        self.reason = reason
    }

    public var description: String { reason }
}

/// Which pictures a flow sends, and by which encoder.
public struct PictureCoding: Hashable, Sendable {
    public enum Encoder: String, CaseIterable, Sendable {
        case x264
        case openH264 = "openh264"
    }

    public var encoder: Encoder
    /// The path of a clip (YUV4MPEG2, or a movie); nil for a generated pattern. It repeats.
    public var clip: String?
    /// The size of the pattern, or what the clip is scaled to; nil for the clip's own, or 640x360.
    public var dimensions: VideoDimensions?

    public init(encoder: Encoder, clip: String? = nil, dimensions: VideoDimensions? = nil) {
        self.encoder = encoder
        self.clip = clip
        self.dimensions = dimensions
    }

    /// Reads a size such as 640x360; nil for what is none, or none that an encoder of 4:2:0 pictures takes.
    public static func dimensions(parsing text: String) -> VideoDimensions? {
        let parts = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 2, let width = parts[0], let height = parts[1],
            [width, height].allSatisfy({ (16...4096).contains($0) && $0 % 2 == 0 })
        else { return nil }
        return VideoDimensions(width: width, height: height)
    }
}
