import H264
import MediaCore
import NIOCore
import PixelTransfer
import Testing

@testable import VideoCoding

/// The back ends of this build that need no device.
let backEnds = EncoderBackEnd.software.filter(\.isBuilt)

let smallPicture = VideoDimensions(width: 128, height: 96)
let mediumPicture = VideoDimensions(width: 640, height: 360)

/// The time of frame `number` at 30 frames a second.
func frameTime(_ number: Int) -> MediaTime { MediaTime(value: Int64(number) * 3000, timescale: 90_000) }

/// The peak signal-to-noise ratio of plane `plane`, in dB; 0 if the pictures cannot be compared.
func signalToNoise(_ left: PixelBuffer, _ right: PixelBuffer, plane: Int = 0) -> Double {
    guard let ratio = try? PictureQuality.psnr(left, right) else { return 0 }
    return [ratio.y, ratio.u, ratio.v][plane]
}

extension PixelBuffer {
    var lumaAddress: UnsafeRawPointer? { withPlane(0) { bytes, _ in bytes.baseAddress } }
}
