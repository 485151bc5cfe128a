public import MediaCore

/// The reason for which a codec session could not be made, or failed.
public enum VideoCodingError: Error, Hashable, Sendable {
    /// No session decodes this format.
    case unsupportedFormat(reason: String)
    /// The session cannot continue with the sample's format; check this in advance with `canAccept`.
    case formatNotAccepted(reason: String)
    /// The sample is not a sequence of length-prefixed NAL units.
    case malformedSample(reason: String)
    /// The decoder refused the frame; `code` is libavcodec's.
    case decodingFailed(code: Int32)
    /// The picture could not be converted to the session's pixel buffer attributes.
    case pixelTransferFailed(reason: String)
    /// The codec library exists but does not work: it lacks H.264, or there is no memory.
    case codecUnavailable(reason: String)
    /// An encoder cannot be made like this.
    case invalidConfiguration(reason: String)
    /// The picture size or frame rate is beyond the H.264 level.
    case levelExceeded(levelIDC: UInt8, reason: String)
    /// The program was built without this encoder.
    case backEndNotBuilt(EncoderBackEnd)
    /// The back end does not support this value of the property, or not together with another value.
    case propertyNotSupported(CompressionProperty, reason: String)
    /// The property is fixed once a frame has been taken.
    case propertyNotChangeable(CompressionProperty)
    case optionNotSupported(EncodeOption, EncoderBackEnd)
    /// The frame is not shown later than the one before it; it was not taken.
    case timeNotIncreasing(MediaTime, previous: MediaTime?)
    /// The session has been invalidated.
    case sessionInvalidated
    /// The picture's size is not the session's.
    case dimensionsMismatch(picture: VideoDimensions, session: VideoDimensions)
    /// The picture's format is not one that the session was made for.
    case pixelFormatNotSupported(PixelFormat)
    /// The encoder refused the frame; `code` is the library's.
    case encodingFailed(backEnd: EncoderBackEnd, code: Int)
    /// The device, its driver or one more encoder on it cannot be had; software encodes as well.
    case hardwareUnavailable(reason: String)
    /// A call of VA-API failed; `code` is libva's (`VAStatus`).
    case hardwareFailed(call: String, code: Int)
    /// A call into the device's driver did not return in time. The session's encoder is lost.
    case hardwareHung(VAAPIDevice)
    /// A pass over a recording could not be made.
    case multiPass(MultiPassError)
}

extension VideoCodingError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unsupportedFormat(let reason): "the video cannot be decoded: \(reason)"
        case .formatNotAccepted(let reason): "the decoder does not go on with the new format: \(reason)"
        case .malformedSample(let reason): "the frame is malformed: \(reason)"
        case .decodingFailed(let code): "libavcodec could not decode the frame (\(code))"
        case .pixelTransferFailed(let reason): "the picture could not be converted: \(reason)"
        case .codecUnavailable(let reason): "the codec is not usable: \(reason)"
        case .invalidConfiguration(let reason): "the encoder cannot be made like this: \(reason)"
        case .levelExceeded(let level, let reason): "beyond H.264 level \(H264Level.name(levelIDC: level)): \(reason)"
        case .backEndNotBuilt(let backEnd):
            "the encoder \(backEnd.rawValue) is not in this build; build with the package trait \(backEnd.trait)"
        case .dimensionsMismatch(let picture, let session):
            "a \(picture) picture was given to an encoder of \(session); scale it or make a new session"
        case .propertyNotSupported(let property, let reason): "\(property.rawValue) cannot be set like this: \(reason)"
        case .propertyNotChangeable(let property):
            "\(property.rawValue) cannot change while frames are encoded; make a new session"
        case .optionNotSupported(let option, let backEnd):
            "\(backEnd.rawValue) does not know \(option.rawValue); see supportedOptions"
        case .timeNotIncreasing(let time, let previous?):
            "the frame at \(time.seconds) s is not shown after the one before it, at \(previous.seconds) s"
        case .timeNotIncreasing(let time, nil): "a frame cannot be shown at \(time)"
        case .sessionInvalidated: "the session has been invalidated; make a new one"
        case .pixelFormatNotSupported(let format): "the encoder does not take \(format) pictures"
        case .encodingFailed(let backEnd, let code): "\(backEnd.rawValue) could not encode the frame (\(code))"
        case .hardwareUnavailable(let reason): "the device is not usable: \(reason)"
        case .hardwareFailed(let call, let code): "the device failed: \(call) returned \(code)"
        case .hardwareHung(let device): "the device \(device) does not answer"
        case .multiPass(let error): "the pass cannot be made: \(error)"
        }
    }
}

extension EncoderBackEnd {
    /// The package trait that builds it.
    fileprivate var trait: String {
        switch self {
        case .openH264, .x264: "X264"
        case .vaapi: "VAAPI"
        }
    }
}
