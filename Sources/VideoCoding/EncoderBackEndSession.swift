import MediaCore
import NIOCore

/// What a compression session needs of an encoder library. One caller at a time.
///
/// A back end encodes at a constant size, one picture in and one frame out, and makes key frames on request alone.
protocol EncoderBackEndSession: AnyObject {
    /// The stream's SPS and PPS, without start codes.
    var parameterSets: [ByteBuffer] { get }

    /// Sets what the next frame and those after it are to cost.
    func setRate(_ rate: EncodingRate) throws(VideoCodingError)

    /// Encodes an I420 picture of the session's size; nil when the rate control leaves it out.
    func encode(_ picture: PixelBuffer, presentationTime: MediaTime, forceKeyFrame: Bool) throws(VideoCodingError)
        -> BackEndFrame?
}

/// What frames are to cost.
struct EncodingRate: Hashable {
    var bitRate: BitRate
    var frameRate: Int
}

/// A frame as a back end makes it.
struct BackEndFrame {
    /// NAL units behind their length in four bytes, without parameter sets.
    var data: ByteBuffer
    var isKeyFrame: Bool
    var averageQP: Int?
}

extension PixelBuffer {
    /// Calls `body` with the first sample and stride of the Y, U and V planes of an I420 picture.
    func withI420Planes<Result>(
        _ body: (_ planes: [(base: UnsafeMutablePointer<UInt8>, stride: Int32)]) -> Result
    ) -> Result? {
        withPlane(0) { luma, lumaStride in
            withPlane(1) { blue, blueStride in
                withPlane(2) { red, redStride in
                    var planes: [(base: UnsafeMutablePointer<UInt8>, stride: Int32)] = []
                    planes.reserveCapacity(3)
                    for (plane, stride) in [(luma, lumaStride), (blue, blueStride), (red, redStride)] {
                        // The libraries declare their input mutable and only read it.
                        guard let base = plane.baseAddress, let stride = Int32(exactly: stride) else { return nil }
                        planes.append(
                            (UnsafeMutablePointer(mutating: base.assumingMemoryBound(to: UInt8.self)), stride))
                    }
                    return body(planes)
                }
            }
        }
    }
}
