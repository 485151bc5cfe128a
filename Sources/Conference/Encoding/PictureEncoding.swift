public import MediaCore
public import VideoCoding

/// Encodes pictures of one size: a compression session or a replacement for it.
public protocol PictureEncoding: AnyObject {
    var dimensions: VideoDimensions { get }

    /// Changes the properties that may change between two frames.
    func setProperties(_ change: (inout CompressionProperties) -> Void) throws(VideoCodingError)

    /// Encodes a picture.
    ///
    /// - Returns: The frame; nil if it was left out.
    func encode(
        _ picture: PixelBuffer, presentationTime: MediaTime, options: EncodeOptions
    ) throws(VideoCodingError) -> EncodedFrame?
}

/// A compression session that returns the results of each call.
package final class SessionPictureEncoder: PictureEncoding {
    let session: CompressionSession
    private let outputs = EncodeOutputQueue()

    package init(
        dimensions: VideoDimensions, backEnd: EncoderBackEnd, properties: CompressionProperties
    ) throws(VideoCodingError) {
        session = try CompressionSession(
            dimensions: dimensions, backEnd: backEnd, properties: properties, outputHandler: outputs.append)
    }

    /// Makes the encoder of a device at once, so that one which cannot be had is known before a frame is spent on it.
    package init(
        dimensions: VideoDimensions, hardware: VAAPIDeviceReport, properties: CompressionProperties
    ) throws(VideoCodingError) {
        session = try CompressionSession(
            dimensions: dimensions, backEnd: .vaapi, device: hardware.device, deviceLimit: hardware.frameLimit,
            properties: properties, outputHandler: outputs.append)
        try session.prepareToEncodeFrames()
    }

    package var dimensions: VideoDimensions { session.dimensions }

    package func setProperties(_ change: (inout CompressionProperties) -> Void) throws(VideoCodingError) {
        try session.setProperties(change)
    }

    package func encode(
        _ picture: PixelBuffer, presentationTime: MediaTime, options: EncodeOptions
    ) throws(VideoCodingError) -> EncodedFrame? {
        try session.encode(picture, presentationTime: presentationTime, options: options)
        switch outputs.next()?.result {
        case .frame(let frame): return frame
        case .failed(let error): throw error
        case .dropped, nil: return nil
        }
    }
}
