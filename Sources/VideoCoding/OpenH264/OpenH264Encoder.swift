import COpenH264
import H264
import MediaCore
import NIOCore

/// OpenH264, set up for calls: one thread, and no scene-change or periodic IDR pictures of its own.
final class OpenH264Encoder: EncoderBackEndSession {
    private(set) var parameterSets: [ByteBuffer] = []
    let isDelayed = false
    var coarsestKeyframeQP: Int { ramp.coarsestKeyframeQP }

    let library: OpenH264Library
    private let dimensions: VideoDimensions
    /// The limits of the level.
    private let highestRate: BitRate
    /// The level that the stream states in place of the library's; nil: the library's.
    private let statedLevel: H264ProfileLevelID.Level?
    private let usualMode: RC_MODES
    /// The QP of all frames if there is no target rate.
    private let constantQP: Int?
    private let keepsLongTermReferences: Bool
    /// True if frames that others refer to may be dropped.
    private let allowsGaps: Bool
    /// The parameter sets as the library made them.
    private var librarySets: [ByteBuffer] = []
    private var inspector: SliceInspector?
    private var memory = OutputMemory()
    private var references = LongTermReferenceList()
    private var meter: OverspendMeter
    /// The meter's state before the last frame.
    private var previousMeter: OverspendMeter
    private var target: EncodingRate
    /// The library's last settings.
    private var applied: EncodingRate
    private var properties: CompressionProperties
    private var ramp: QPRamp
    /// True if the library failed on the last frame: it makes no more frames until it is set up again.
    private var isLost = false
    /// True if the library has chosen the QP of a keyframe since it was set up.
    private var hasRateControl = false
    /// `idr_pic_id` of the last frame, and of the one before it; nil where that is no keyframe.
    private var keyframeIDs: (last: Int?, former: Int?) = (nil, nil)

    /// The change of the rate above which the library is updated while debt is paid back.
    private static let rateResolution = 0.01
    /// The mean size of a frame as a part of its limit.
    private static let frameLimitShare = 0.6
    /// With this QP, noise is a quarter of its samples.
    private static let fittingQP = 40

    init(properties: CompressionProperties, dimensions: VideoDimensions) throws(VideoCodingError) {
        library = try OpenH264Library()
        self.dimensions = dimensions
        let rate = Self.rate(properties)
        meter = OverspendMeter(rate: rate)
        previousMeter = meter
        target = rate
        applied = EncodingRate(properties)
        self.properties = properties
        let profile = properties.profileLevel.profile
        highestRate =
            properties.profileLevel.level
            .map { EncoderCapabilities.maximumBitRate(of: .openH264, $0, profile) } ?? rate.bitRate
        statedLevel = properties.profileLevel.level.flatMap { level in
            level.covering == level ? nil : H264ProfileLevelID.Level(idc: level.levelIDC)
        }
        keepsLongTermReferences = properties.longTermReferences
        allowsGaps = properties.temporalLayers > 2
        ramp = QPRamp(layers: properties.temporalLayers)
        constantQP = properties.rateControlMode == .quality ? properties.qualityQP : nil
        let parameters = try library.parameters(properties, dimensions: dimensions)
        usualMode = parameters.iRCMode
        try library.initialize(parameters)
        try library.encodeParameterSets()
        try takeParameterSets()
    }

    // MARK: - Rate

    /// The rate to aim at: frames that must not be large are asked for small enough that they vary below the limit.
    private static func rate(_ properties: CompressionProperties) -> EncodingRate {
        var rate = EncodingRate(properties)
        if let size = properties.maxFrameBytes {
            let limit = BitRate(bitsPerSecond: size.bits * rate.frameRate * frameLimitShare)
            rate.bitRate = min(rate.bitRate, limit)
        }
        return rate
    }

    func setProperties(_ changed: CompressionProperties) throws(VideoCodingError) {
        if changed.preset != properties.preset, !isLost {
            // The library chooses its search again with each frame; the stream's form does not change.
            try library.set(ENCODER_OPTION_COMPLEXITY, to: Int32(changed.preset.complexity.rawValue))
        }
        properties = changed
        let rate = Self.rate(properties)
        guard rate != target else { return }
        target = rate
        meter.setRate(rate)
        previousMeter.setRate(rate)
    }

    func withdrawLastFrame() {
        meter = previousMeter
        keyframeIDs.last = keyframeIDs.former
    }

    /// Sets the library's rate if it changed by more than rounding.
    private func applyRate() throws(VideoCodingError) {
        if target.frameRate != applied.frameRate {
            try library.set(ENCODER_OPTION_FRAME_RATE, to: Float(target.frameRate))
            applied.frameRate = target.frameRate
        }
        // The library takes no rate beyond the level's, not for a moment.
        let allowance = min(meter.allowance, highestRate)
        let isWorthwhile = allowance == target.bitRate || abs(allowance / applied.bitRate - 1) > Self.rateResolution
        guard allowance != applied.bitRate, isWorthwhile else { return }
        let bitRate = OpenH264Library.bitRate(allowance)
        try library.set(ENCODER_OPTION_BITRATE, to: SBitrateInfo(iLayer: SPATIAL_LAYER_ALL, iBitrate: bitRate))
        applied.bitRate = allowance
    }

    /// Sets up the library's rate control with a keyframe that is not sent.
    ///
    /// The library does that with the first keyframe whose QP it chooses. Without such a keyframe, it gives the frames
    /// behind another one the finest QP. A grey picture takes about a third of the time of a detailed one.
    private func beginRateControl(_ time: MediaTime) throws(VideoCodingError) {
        guard !hasRateControl, usualMode != RC_OFF_MODE else { return }
        var grey = MutablePixelBuffer(format: .i420, dimensions: dimensions)
        grey.withMutablePlanes { planes in
            for plane in planes {
                plane.base.initializeMemory(as: UInt8.self, repeating: 128, count: plane.stride * plane.rows)
            }
        }
        try library.encode(grey.freeze(), dimensions: dimensions, time: time)
        hasRateControl = library.isKeyframe
        ramp.observeUsual(try takeFrame().slice, layer: library.temporalLayer)
        try library.forceKeyframe()
    }

    /// Encodes with a constant QP, by switching off the library's rate control, which has no such setting.
    private func encode(
        _ picture: PixelBuffer, _ time: MediaTime, qp: Int
    ) throws(VideoCodingError) {
        try beginRateControl(time)
        let isArithmetic = properties.entropyMode == .cabac
        try library.setQP(isArithmetic ? max(qp, ramp.request(for: OpenH264Library.leastArithmeticQP)) : qp)
        try library.set(ENCODER_OPTION_RC_MODE, to: RC_OFF_MODE)
        do throws(VideoCodingError) {
            try library.encode(picture, dimensions: dimensions, time: time)
        } catch {
            try library.set(ENCODER_OPTION_RC_MODE, to: usualMode)
            throw error
        }
        try library.set(ENCODER_OPTION_RC_MODE, to: usualMode)
    }

    // MARK: - Frames

    func encode(_ picture: PixelBuffer, _ request: FrameRequest) throws(VideoCodingError) -> BackEndResult {
        do throws(VideoCodingError) {
            return try attempt(picture, request)
        } catch .encodingFailed {
            // The library's memory of a frame is about half of the picture's: fine noise does not fit in.
            var coarser = request
            coarser.qp = max(request.qp ?? 0, Self.fittingQP)
            return try attempt(picture, coarser)
        } catch {
            throw error
        }
    }

    private func attempt(
        _ picture: PixelBuffer, _ request: FrameRequest
    ) throws(VideoCodingError) -> BackEndResult {
        if isLost {
            try library.initialize(library.parameters(properties, dimensions: dimensions))
            applied = EncodingRate(properties)
            hasRateControl = false
        }
        isLost = true
        let result = try make(picture, request)
        isLost = false
        return result
    }

    private func make(_ picture: PixelBuffer, _ request: FrameRequest) throws(VideoCodingError) -> BackEndResult {
        try applyRate()
        previousMeter = meter
        if request.forceKeyframe { try library.forceKeyframe() }
        let qp = request.qp.map(ramp.request(for:)) ?? ramp.request
        if let qp = qp ?? constantQP {
            try encode(picture, request.presentationTime, qp: qp)
        } else {
            try library.encode(picture, dimensions: dimensions, time: request.presentationTime)
            hasRateControl = hasRateControl || library.isKeyframe
        }
        guard library.hasFrame else {
            meter.spend(.zero)
            return .skipped
        }
        let (data, slice) = try takeFrame()
        if let id = slice.keyframeID, id == keyframeIDs.last {
            // A library that was set up again counts anew, and two keyframes in a row must differ (H.264 7.4.3).
            var next = request
            next.forceKeyframe = true
            return try make(picture, next)
        }
        keyframeIDs = (slice.keyframeID, keyframeIDs.last)
        meter.spend(DataSize(bytes: data.readableBytes))
        if constantQP == nil { updateRamp(slice, wasGiven: qp != nil, bytes: data.readableBytes) }
        var frame = BackEndFrame(
            data: data, serial: request.serial, decodeSerial: request.serial, slice: slice,
            temporalLayer: library.temporalLayer, averageQP: slice.qp)
        if keepsLongTermReferences { frame.longTermReference = references.add(slice, serial: request.serial) }
        return .frame(frame)
    }

    /// The library's last frame, and what its slices say.
    private func takeFrame() throws(VideoCodingError) -> (data: ByteBuffer, slice: SliceSummary) {
        // The level in the SPS follows the bitrate, so it is read again with each keyframe.
        if library.isKeyframe { try takeParameterSets() }
        let data = memory.makeBuffer(size: library.frameSize) { buffer in library.writeSlices(into: &buffer) }
        guard let slice = inspector?.inspect(data) else {
            throw .codecUnavailable(reason: "OpenH264's slices make no sense")
        }
        return (data, slice)
    }

    func finish() throws(VideoCodingError) -> BackEndFrame? { nil }

    /// Updates the ramp. The library's rate control ignores frames with a given QP and keeps its own QP; so it takes
    /// over when the QP is back at that value.
    private func updateRamp(_ slice: SliceSummary, wasGiven: Bool, bytes: Int) {
        guard wasGiven else { return ramp.observeUsual(slice, layer: library.temporalLayer) }
        let rate = Double(meter.allowance.bitsPerSecond) / 8
        ramp.observe(
            slice, layer: library.temporalLayer, bytes: bytes, share: rate / max(1, target.frameRate),
            limit: rate * properties.latencyBudget.seconds, bound: properties.maxFrameBytes?.bytes)
    }

    private func takeParameterSets() throws(VideoCodingError) {
        let sets = library.readParameterSets()
        guard !sets.isEmpty, sets != librarySets else { return }
        librarySets = sets
        parameterSets = (allowsGaps ? sets.map(GapTolerantParameterSet.allowingGaps) : sets).map(statingLevel)
        inspector = SliceInspector(parameterSets: sets)
    }

    /// An SPS with the level of a receiver that takes more than that level demands; other units unchanged.
    private func statingLevel(_ set: ByteBuffer) -> ByteBuffer {
        guard let statedLevel, let header: UInt8 = set.getInteger(at: set.readerIndex), header & 0x1F == 7,
            let bytes = set.getBytes(at: set.readerIndex + 1, length: 3)
        else { return set }
        var id = H264ProfileLevelID(profileIDC: bytes[0], constraintFlags: bytes[1], levelIDC: bytes[2])
        id.level = statedLevel
        var stated = set
        stated.setInteger(id.constraintFlags, at: set.readerIndex + 2)
        stated.setInteger(id.levelIDC, at: set.readerIndex + 3)
        return stated
    }

    // MARK: - References

    func invalidateReferences(from serial: Int64) throws(VideoCodingError) -> Bool {
        guard keepsLongTermReferences, !isLost, let request = references.invalidate(from: serial) else { return false }
        try library.set(
            ENCODER_LTR_RECOVERY_REQUEST,
            to: SLTRRecoverRequest(
                uiFeedbackType: LTR_RECOVERY_REQUEST.rawValue, uiIDRPicId: UInt32(request.keyframeID),
                iLastCorrectFrameNum: Int32(request.lastGood), iCurrentFrameNum: Int32(request.newest), iLayerId: 0))
        return true
    }

    func acknowledge(_ reference: LongTermReference) throws(VideoCodingError) {
        guard keepsLongTermReferences, !isLost, references.acknowledge(reference) else { return }
        try library.set(
            ENCODER_LTR_MARKING_FEEDBACK,
            to: SLTRMarkingFeedback(
                uiFeedbackType: LTR_MARKING_SUCCESS.rawValue, uiIDRPicId: UInt32(reference.keyframeID),
                iLTRFrameNum: Int32(reference.frameNumber), iLayerId: 0))
    }
}
