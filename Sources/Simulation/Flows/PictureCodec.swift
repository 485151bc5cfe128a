public import MediaCore
public import VideoCoding

/// The codec of a media flow: either real pictures, or frames that only have the sizes of real ones.
///
/// The simulation has the second kind built in; a program provides the first kind. One flow uses a codec, and calls it
/// in the order of time.
public protocol PictureCodec: AnyObject {
    /// Encodes the next picture of the source.
    ///
    /// - Parameters:
    ///   - frame: The number with which `receive` identifies the frame; numbers grow.
    ///   - time: The capture time since the simulation began.
    ///   - target: The rate of frames without packet headers.
    /// - Returns: The frame; nil if the encoder skips it.
    func encode(
        frame: Int, at time: Duration, target: BitRate, isKeyframe: Bool
    ) throws(PictureCodecError) -> EncodedFrame?

    /// Skips the next picture of the source, because the sender has no room for it.
    func skipPicture() throws(PictureCodecError)

    /// Decodes a frame that arrived together with all its references.
    func receive(_ sample: SampleBuffer, frame: Int) throws(PictureCodecError)

    /// Models a change of the content: the next frame is `factor` times as large as the target allows.
    func contentChanged(factor: Double)

    /// The similarity of received pictures to the source; nil before the first one.
    var quality: ReceivedPictureQuality? { get }

    var keyframeCount: Int { get }
}

extension PictureCodec {
    /// Does nothing: the size of real pictures depends on their content.
    public func contentChanged(factor: Double) {}
}

/// Creates the codec of a flow. The configuration of the flow's encoder sets the frame rate.
public typealias PictureCodecMaker = (PictureCoding, EncoderModel.Configuration) throws(PictureCodecError) ->
    any PictureCodec

/// The similarity of received pictures to the sent ones.
public struct ReceivedPictureQuality: Hashable, Sendable {
    /// The PSNR in dB, from the luma's mean squared error over all pictures.
    public var psnr: Double
    /// The structural similarity (SSIM) of the luma, averaged over all pictures.
    public var ssim: Double

    public init(psnr: Double, ssim: Double) {
        self.psnr = psnr
        self.ssim = ssim
    }
}

/// The reason why real pictures could not be sent.
public struct PictureCodecError: Error, Hashable, Sendable, CustomStringConvertible {
    public var reason: String

    public init(reason: String) {
        self.reason = reason
    }

    public var description: String { reason }
}

/// The real pictures of a flow, and their encoder.
public struct PictureCoding: Hashable, Sendable {
    public enum Encoder: String, CaseIterable, Sendable {
        case x264
        case openH264 = "openh264"
    }

    public var encoder: Encoder
    /// The path of a clip (YUV4MPEG2, or a movie), which repeats; nil for a generated pattern.
    public var clip: String?
    /// The size of the pattern, or the size to which the clip is scaled; nil for the clip's own size, or 640x360.
    public var dimensions: VideoDimensions?

    public init(encoder: Encoder, clip: String? = nil, dimensions: VideoDimensions? = nil) {
        self.encoder = encoder
        self.clip = clip
        self.dimensions = dimensions
    }

    /// Parses a size such as 640x360; nil if invalid, or if an encoder of 4:2:0 pictures does not support it.
    public static func dimensions(parsing text: String) -> VideoDimensions? {
        let parts = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 2, let width = parts[0], let height = parts[1],
            [width, height].allSatisfy({ (16...4096).contains($0) && $0 % 2 == 0 })
        else { return nil }
        return VideoDimensions(width: width, height: height)
    }
}
