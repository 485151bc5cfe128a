import H264
import MediaCore
import NIOCore
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

/// Peak signal-to-noise ratio of plane `plane`, in dB.
func signalToNoise(_ left: PixelBuffer, _ right: PixelBuffer, plane: Int = 0) -> Double {
    let (width, rows) = PixelFormat.i420.planeSize(plane, of: left.dimensions)
    let squares = left.withPlane(plane) { leftBytes, leftStride in
        right.withPlane(plane) { rightBytes, rightStride in
            var squares = 0
            for y in 0..<rows {
                for x in 0..<width {
                    let difference = Int(leftBytes[y * leftStride + x]) - Int(rightBytes[y * rightStride + x])
                    squares += difference * difference
                }
            }
            return squares
        }
    }
    guard squares > 0 else { return .infinity }
    var (ratio, decibels) = (255.0 * 255 * Double(width * rows) / Double(squares), 0.0)
    // log10 without a maths library: decibels in steps of a hundredth.
    let step = 1.002_305_238_077_9
    while ratio > 1 {
        ratio /= step
        decibels += 0.01
    }
    return decibels
}

extension PixelBuffer {
    var lumaAddress: UnsafeRawPointer? { withPlane(0) { bytes, _ in bytes.baseAddress } }
}
