import CongestionControl
import EncoderSharing
import H264
import MediaCore
import PeerConnection
import VideoCoding

/// An encoder that its first job makes, on the worker, so that a join does not delay the room's loop. It is made again
/// for pictures of another size, and then begins with a keyframe.
final class LazyEncoder {
    /// Settings that may change between two frames.
    struct Settings: Equatable {
        var bitRate: VideoBitRate
        var frameRate: Int
        /// True if the frames have temporal layers, of which the upper ones can be dropped for one receiver. An encoder
        /// changes the number of its layers with its next keyframe.
        var hasLayers: Bool
        /// True if the single receiver continues after a loss with pictures that refer to received ones, or that are
        /// refreshed part by part. An encoder keeps the references for this from its next keyframe on.
        var recovers: Bool
        var preset: EncoderPreset
        /// The most bytes of the frame.
        var maximumSize: DataSize
    }

    /// Makes an encoder for pictures of a size.
    typealias Maker = @Sendable (VideoDimensions, CompressionProperties) throws(VideoCodingError) -> any PictureEncoding

    private let backEnd: EncoderBackEnd
    private let hardware: VAAPIDeviceReport?
    private let make: Maker?
    private let format: EncodeFormat
    private var session: (any PictureEncoding)?
    private var settings: Settings?
    private var form = Form(usesDevice: false, layers: 1, recovery: .keyframes)
    private var fallback = HardwareFallback()

    /// Settings that stay until a keyframe.
    private struct Form: Equatable {
        var usesDevice: Bool
        var layers: Int
        var recovery: LossRecovery
    }

    /// - Parameters:
    ///   - hardware: The device that encodes while it can; nil for none.
    ///   - make: Makes encoders of one's own; nil: they are sessions of the back end.
    init(backEnd: EncoderBackEnd, hardware: VAAPIDeviceReport? = nil, make: Maker? = nil, format: EncodeFormat) {
        self.backEnd = backEnd
        self.hardware = hardware
        self.make = make
        self.format = format
    }

    /// - Parameter keyframeSizes: The sizes of keyframes of this content, for the first frame of a session.
    func encode(
        _ picture: PixelBuffer, captureTime: MonotonicInstant, settings wanted: Settings, options: EncodeOptions,
        keyframeSizes: KeyframeSizeModel = KeyframeSizeModel()
    ) -> EncodedPicture {
        var fault: EncoderFailure?
        do throws(VideoCodingError) {
            let isOther = session.map { $0.dimensions != picture.dimensions } ?? false
            let wantedForm = form(wanted, now: captureTime)
            if isOther || (options.forceKeyframe && form != wantedForm) { session = nil }
            if session == nil, wantedForm.usesDevice {
                fault = startDevice(wanted, wantedForm, dimensions: picture.dimensions, now: captureTime)
            }
            var options = options
            // Any frame may be the first of a session: after a failure nobody has to ask for a keyframe. A session that
            // there is knows its own keyframes better.
            if self.session == nil {
                options.expectedKeyframeQP = keyframeSizes.firstQP(for: wanted.maximumSize.bytes)
            }
            let session = try session(wanted, dimensions: picture.dimensions, now: captureTime)
            // A frame of software's that was acknowledged meanwhile.
            if form.usesDevice { options.acknowledgedReferences = [] }
            let frame = try session.encode(picture, presentationTime: MediaTime(captureTime), options: options)
            var result = EncodedPicture(
                captureTime: captureTime, frame: frame, isFromDevice: form.usesDevice,
                isUploaded: form.usesDevice && picture.surface == nil, deviceFault: fault,
                recovery: form.recovery)
            if options.invalidateReferencesBackTo != nil { result.tellRefresh() }
            return result
        } catch {
            if form.usesDevice, session != nil { return deviceFailed(error, captureTime: captureTime) }
            // The next frame tries again with a new session.
            session = nil
            return EncodedPicture(captureTime: captureTime, error: error)
        }
    }

    /// Makes the device's session; where it cannot, says why, and software makes this very frame.
    private func startDevice(
        _ wanted: Settings, _ wantedForm: Form, dimensions: VideoDimensions, now: MonotonicInstant
    ) -> EncoderFailure? {
        guard let hardware else { return nil }
        do throws(VideoCodingError) {
            session = try SessionPictureEncoder(
                dimensions: dimensions, hardware: hardware,
                properties: properties(wanted, wantedForm, dimensions: dimensions))
            settings = wanted
            form = wantedForm
            return nil
        } catch {
            let rest = fallback.leave(now: now)
            return EncoderFailure(reason: "\(error); software encodes meanwhile", failures: 1, retryAfter: rest)
        }
    }

    /// Drops the frame. The session makes the next one a keyframe; after several errors, or where the device does not
    /// answer, software does.
    private func deviceFailed(_ error: VideoCodingError, captureTime: MonotonicInstant) -> EncodedPicture {
        let rest = fallback.failed(error, now: captureTime)
        if rest != nil { session = nil }
        let reason = rest == nil ? "\(error); the frame is left out" : "\(error); software encodes meanwhile"
        let fault = EncoderFailure(reason: reason, failures: 1, retryAfter: rest ?? .zero)
        return EncodedPicture(captureTime: captureTime, deviceFault: fault)
    }

    private func session(
        _ wanted: Settings, dimensions: VideoDimensions, now: MonotonicInstant
    ) throws(VideoCodingError) -> any PictureEncoding {
        if let session {
            if wanted != settings { try session.setProperties { wanted.apply(to: &$0) } }
            settings = wanted
            return session
        }
        let form = form(wanted, now: now)
        let properties = properties(wanted, form, dimensions: dimensions)
        let made: any PictureEncoding =
            if let make {
                try make(dimensions, properties)
            } else {
                try SessionPictureEncoder(dimensions: dimensions, backEnd: backEnd, properties: properties)
            }
        session = made
        settings = wanted
        self.form = form
        return made
    }

    private func properties(_ wanted: Settings, _ form: Form, dimensions: VideoDimensions) -> CompressionProperties {
        var properties = format.properties
        let highestFrameRate = max(Int(clamping: properties.expectedFrameRate), wanted.frameRate)
        wanted.apply(to: &properties)
        // A session keeps its level. One that begins with few frames a second takes the room's rate later.
        properties.profileLevel.level =
            properties.profileLevel.level
            ?? properties.lowestLevel(
                for: dimensions, frameRate: highestFrameRate, bitRate: properties.averageBitRate)
        properties.temporalLayers = form.layers
        properties.controlsDeviceQP = form.usesDevice && hardware?.followsSlowly == true
        switch form.recovery {
        case .keyframes: break
        case .longTermReferences: properties.longTermReferences = true
        case .intraRefresh: properties.intraRefreshPeriod = max(2, wanted.frameRate)
        }
        return properties
    }

    private func form(_ settings: Settings, now: MonotonicInstant) -> Form {
        // No driver is known to cut pictures into small slices.
        if let hardware, make == nil, format.properties.sliceMaxBytes == nil, fallback.allowsDevice(now: now) {
            let layers = min(hardware.temporalLayers, DownlinkPipeline.temporalLayers)
            return Form(usesDevice: true, layers: settings.hasLayers ? layers : 1, recovery: .keyframes)
        }
        return Form(
            usesDevice: false,
            layers: settings.hasLayers && backEnd.hasTemporalLayers ? DownlinkPipeline.temporalLayers : 1,
            recovery: settings.recovers ? backEnd.recovery : .keyframes)
    }
}

extension EncoderBackEnd {
    /// True if it makes frames in real time that no other refers to.
    var hasTemporalLayers: Bool { self == .openH264 }

    /// The ability to help a receiver that needs no keyframe after a loss. x264 also keeps older frames, but as
    /// short-term references, which not every decoder finds after a gap.
    var recovery: LossRecovery {
        switch self {
        case .openH264: .longTermReferences
        case .x264: .intraRefresh(round: .seconds(1))
        case .vaapi: .keyframes
        }
    }
}

extension LazyEncoder.Settings {
    fileprivate func apply(to properties: inout CompressionProperties) {
        properties.averageBitRate = bitRate.target
        properties.preset = preset
        properties.expectedFrameRate = Double(frameRate)
        properties.maxFrameBytes = maximumSize
    }
}

extension EncodedPicture {
    /// Marks a frame that refers only to pictures of its receiver with the message "recovery point", so that the
    /// receiver continues there.
    mutating func tellRefresh() {
        guard recovery == .longTermReferences, var frame, !frame.isKeyframe, frame.statistics.usesLongTermReference,
            let units = try? frame.sample.nalUnits()
        else { return }
        let message = RecoveryPoint(frameCount: 0, isExact: true).nalUnit
        frame.sample.data = BlockBuffer(LengthPrefixed.encode([message] + units))
        frame.statistics.size = DataSize(bytes: frame.sample.data.count)
        self.frame = frame
        isRefresh = true
    }
}
