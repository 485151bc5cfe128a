import MediaCore
import NIOCore

/// An encoder library, as a compression session uses it. One caller at a time.
protocol EncoderBackEndSession: AnyObject {
    /// The stream's SPS and PPS, without start codes.
    var parameterSets: [ByteBuffer] { get }
    /// True if frames come out later than they go in.
    var isDelayed: Bool { get }
    /// The coarsest QP of a keyframe.
    var coarsestKeyframeQP: Int { get }

    /// Sets the properties that may change between two frames. They hold from the next frame on.
    func setProperties(_ properties: CompressionProperties) throws(VideoCodingError)

    /// Encodes a picture of the session's size in one of the back end's own formats.
    func encode(_ picture: PixelBuffer, _ request: FrameRequest) throws(VideoCodingError) -> BackEndResult

    /// The next frame that was held back; nil when there is none. Nothing can be encoded afterwards.
    func finish() throws(VideoCodingError) -> BackEndFrame?

    /// Forgets the last frame: it is not sent. Neither its bytes nor its number as a keyframe are used.
    func withdrawLastFrame()

    /// Refers to no frame from `serial` on; false when none is left that could be referred to.
    func invalidateReferences(from serial: Int64) throws(VideoCodingError) -> Bool

    /// The receiver has this reference.
    func acknowledge(_ reference: LongTermReference) throws(VideoCodingError)
}

extension EncoderBackEndSession {
    var coarsestKeyframeQP: Int { KeyframeSizeModel.coarsestQP }
}

/// The request for one encoded picture.
struct FrameRequest {
    var serial: Int64
    var presentationTime: MediaTime
    var duration: MediaTime?
    var forceKeyframe = false
    /// The QP of a keyframe that is to keep within a limit; nil: the encoder chooses.
    var qp: Int?
    var regionsOfInterest: [RegionOfInterest] = []
}

/// The outcome of a picture, or of an earlier one.
enum BackEndResult {
    case frame(BackEndFrame)
    /// The rate control leaves the picture out.
    case skipped
    /// No frame has come out yet.
    case held
}

/// A frame as a back end makes it.
struct BackEndFrame {
    /// NAL units behind their length in four bytes, without parameter sets.
    var data: ByteBuffer
    var serial: Int64
    /// The serial number of the picture at whose time this one is decoded; negative for times before the first picture.
    var decodeSerial: Int64
    var slice: SliceSummary
    var temporalLayer = 0
    var averageQP: Int?
    /// The decoding time, if it does not follow from `decodeSerial`.
    var decodeTime: MediaTime?
    /// The long-term reference that is kept from this frame on.
    var longTermReference: LongTermReference?
}

/// One plane as the encoder libraries take it.
typealias EncoderPlane = (base: UnsafeMutablePointer<UInt8>?, stride: Int32)

extension PixelBuffer {
    /// Calls `body` with the first sample and stride of up to three planes; missing planes are nil.
    func withEncoderPlanes<Result>(_ body: (EncoderPlane, EncoderPlane, EncoderPlane) -> Result) -> Result {
        withPlanes { planes in
            func plane(_ index: Int) -> EncoderPlane {
                guard index < planes.count else { return (nil, 0) }
                // The libraries declare their input mutable and only read it.
                return (planes[index].base.assumingMemoryBound(to: UInt8.self), Int32(clamping: planes[index].stride))
            }
            return body(plane(0), plane(1), plane(2))
        }
    }
}
