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
