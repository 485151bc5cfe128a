import H264
import MediaCore
import NIOCore
import PixelTransfer
import Testing

@testable import VideoCoding

/// The back ends of this build.
let backEnds = EncoderBackEnd.allCases.filter(\.isBuilt)

let smallPicture = VideoDimensions(width: 128, height: 96)
let mediumPicture = VideoDimensions(width: 640, height: 360)

/// The time of frame `number` at 30 frames a second.
func frameTime(_ number: Int) -> MediaTime { MediaTime(value: Int64(number) * 3000, timescale: 90_000) }

/// Encodes pictures of a moving pattern.
func encode(
    _ pictures: Range<Int>, of pattern: MovingPattern, with session: CompressionSession, forcingKeyFrames: Bool = false
) throws -> [EncodedFrame] {
    try pictures.map { number in
        let frame = try session.encode(
            pattern.picture(number), presentationTime: frameTime(number),
            options: EncodeOptions(forceKeyFrame: forcingKeyFrames))
        return try #require(frame)
    }
}

/// A stream of a moving pattern.
func makeStream(
    _ backEnd: EncoderBackEnd, _ dimensions: VideoDimensions, frames: Int, profile: H264Profile = .constrainedBaseline,
    bitRate: BitRate = .megabits(1)
) throws -> [EncodedFrame] {
    let session = try CompressionSession(
        backEnd: backEnd,
        configuration: CompressionConfiguration(dimensions: dimensions, averageBitRate: bitRate, profile: profile))
    return try encode(0..<frames, of: MovingPattern(dimensions), with: session)
}

extension EncodedFrame {
    var nalUnits: [NALUnit] { get throws { try LengthPrefixed.nalUnits(in: sample.data.contiguous()) } }
}

/// Peak signal-to-noise ratio of plane `plane`, in dB; 0 where the pictures cannot be compared.
func signalToNoise(_ left: PixelBuffer, _ right: PixelBuffer, plane: Int = 0) -> Double {
    guard let ratio = try? PictureQuality.psnr(left, right) else { return 0 }
    return [ratio.y, ratio.u, ratio.v][plane]
}

extension PixelBuffer {
    var lumaAddress: UnsafeRawPointer? { withPlane(0) { bytes, _ in bytes.baseAddress } }
}
