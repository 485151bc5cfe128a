import COpenH264
import MediaCore
import NIOCore

/// OpenH264, set up for calls: one thread, one slice, one reference, no scene-change or periodic IDR pictures.
final class OpenH264Encoder: EncoderBackEndSession {
    private(set) var parameterSets: [ByteBuffer] = []

    private let encoder: UnsafeMutablePointer<ISVCEncoder?>
    private let methods: ISVCEncoderVtbl
    private let output: UnsafeMutablePointer<SFrameBSInfo>
    private let dimensions: VideoDimensions
    private var meter: OverspendMeter
    private var target: EncodingRate
    /// What the library was told last.
    private var applied: EncodingRate

    /// While debt is paid back the library is told of changes larger than this share.
    private static let rateResolution = 0.01

    init(configuration: CompressionConfiguration, level: H264Level, rate: EncodingRate) throws(VideoCodingError) {
        var created: UnsafeMutablePointer<ISVCEncoder?>?
        guard WelsCreateSVCEncoder(&created) == 0, let created, let table = created.pointee else {
            throw .codecUnavailable(reason: "OpenH264 made no encoder")
        }
        encoder = created
        methods = table.pointee
        output = .allocate(capacity: 1)
        output.initialize(to: SFrameBSInfo())
        dimensions = configuration.dimensions
        meter = OverspendMeter(rate: rate)
        target = rate
        applied = rate
        // The library warns on stderr about settings that are meant; WELS_LOG_QUIET is zero.
        try set(ENCODER_OPTION_TRACE_LEVEL, to: Int32(0))
        var parameters = try makeParameters(configuration: configuration, level: level, rate: rate)
        try check(methods.InitializeExt(encoder, &parameters))
        try set(ENCODER_OPTION_DATAFORMAT, to: Int32(videoFormatI420.rawValue))
        try check(methods.EncodeParameterSets(encoder, output))
        parameterSets = readParameterSets()
    }

    deinit {
        _ = methods.Uninitialize(encoder)
        WelsDestroySVCEncoder(encoder)
        output.deallocate()
    }

    private func makeParameters(
        configuration: CompressionConfiguration, level: H264Level, rate: EncodingRate
    ) throws(VideoCodingError) -> SEncParamExt {
        var parameters = SEncParamExt()
        try check(methods.GetDefaultParams(encoder, &parameters))
        let bitRate = Int32(clamping: rate.bitRate.bitsPerSecond)
        parameters.iUsageType = CAMERA_VIDEO_REAL_TIME
        parameters.iPicWidth = Int32(dimensions.width)
        parameters.iPicHeight = Int32(dimensions.height)
        parameters.iTargetBitrate = bitRate
        parameters.iRCMode = RC_BITRATE_MODE
        parameters.fMaxFrameRate = Float(rate.frameRate)
        parameters.iTemporalLayerNum = 1
        parameters.iSpatialLayerNum = 1
        parameters.iComplexityMode =
            switch configuration.preset {
            case .fastest: LOW_COMPLEXITY
            case .balanced: MEDIUM_COMPLEXITY
            case .quality: HIGH_COMPLEXITY
            }
        parameters.uiIntraPeriod = 0
        parameters.iNumRefFrame = 1
        parameters.eSpsPpsIdStrategy = CONSTANT_ID
        parameters.bPrefixNalAddingCtrl = false
        parameters.bEnableSSEI = false
        parameters.iPaddingFlag = 0
        parameters.iEntropyCodingModeFlag = configuration.profile == .constrainedBaseline ? 0 : 1
        parameters.bEnableFrameSkip = false
        parameters.iMaxBitrate = Int32(UNSPECIFIED_BIT_RATE)
        // With a lower bound of zero the library replaces both bounds, and its upper one (42) is too low to follow a
        // steep drop of the bitrate.
        parameters.iMinQp = 10
        parameters.iMaxQp = 51
        parameters.bEnableLongTermReference = false
        parameters.iMultipleThreadIdc = 1
        parameters.bEnableDenoise = false
        parameters.bEnableFrameCroppingFlag = true
        parameters.bEnableSceneChangeDetect = false
        // Its own way to make up for overspending has no bound; `OverspendMeter` takes its place.
        parameters.bFixRCOverShoot = false
        parameters.sSpatialLayers.0.iVideoWidth = Int32(dimensions.width)
        parameters.sSpatialLayers.0.iVideoHeight = Int32(dimensions.height)
        parameters.sSpatialLayers.0.fFrameRate = Float(rate.frameRate)
        parameters.sSpatialLayers.0.iSpatialBitrate = bitRate
        parameters.sSpatialLayers.0.iMaxSpatialBitrate = Int32(UNSPECIFIED_BIT_RATE)
        parameters.sSpatialLayers.0.uiProfileIdc = EProfileIdc(UInt32(configuration.profile.profileIDC))
        parameters.sSpatialLayers.0.uiLevelIdc = ELevelIdc(UInt32(level.levelIDC))
        if let size = configuration.maximumSliceSize {
            parameters.sSpatialLayers.0.sSliceArgument.uiSliceMode = SM_SIZELIMITED_SLICE
            parameters.sSpatialLayers.0.sSliceArgument.uiSliceSizeConstraint = UInt32(clamping: size.bytes)
            parameters.uiMaxNalSize = UInt32(clamping: size.bytes)
        } else {
            parameters.sSpatialLayers.0.sSliceArgument.uiSliceMode = SM_SINGLE_SLICE
        }
        return parameters
    }

    func setRate(_ rate: EncodingRate) throws(VideoCodingError) {
        target = rate
        meter.setRate(rate)
    }

    /// Tells the library the rate where it moved by more than rounding.
    private func applyRate() throws(VideoCodingError) {
        if target.frameRate != applied.frameRate {
            try set(ENCODER_OPTION_FRAME_RATE, to: Float(target.frameRate))
            applied.frameRate = target.frameRate
        }
        let allowance = meter.allowance
        let isWorthwhile = allowance == target.bitRate || abs(allowance / applied.bitRate - 1) > Self.rateResolution
        guard allowance != applied.bitRate, isWorthwhile else { return }
        let bitRate = Int32(clamping: allowance.bitsPerSecond)
        try set(ENCODER_OPTION_BITRATE, to: SBitrateInfo(iLayer: SPATIAL_LAYER_ALL, iBitrate: bitRate))
        applied.bitRate = allowance
    }

    func encode(
        _ picture: PixelBuffer, presentationTime: MediaTime, forceKeyFrame: Bool
    ) throws(VideoCodingError) -> BackEndFrame? {
        try applyRate()
        if forceKeyFrame { try check(methods.ForceIntraFrame(encoder, true)) }
        let status = picture.withI420Planes { planes in
            var source = SSourcePicture()
            source.iColorFormat = Int32(videoFormatI420.rawValue)
            source.iPicWidth = Int32(dimensions.width)
            source.iPicHeight = Int32(dimensions.height)
            source.iStride = (planes[0].stride, planes[1].stride, planes[2].stride, 0)
            source.pData = (planes[0].base, planes[1].base, planes[2].base, nil)
            source.uiTimeStamp = presentationTime.converted(toTimescale: 1000).value
            return methods.EncodeFrame(encoder, &source, output)
        }
        try check(status ?? Int32(cmInitParaError.rawValue))
        let type = output.pointee.eFrameType
        guard type != videoFrameTypeSkip, type != videoFrameTypeInvalid else {
            meter.spend(.zero)
            return nil
        }
        let isKeyFrame = type == videoFrameTypeIDR
        // The level in the SPS follows the bitrate, so it is taken anew with each key frame.
        if isKeyFrame { parameterSets = readParameterSets() }
        let data = readSlices()
        meter.spend(DataSize(bytes: data.readableBytes))
        return BackEndFrame(data: data, isKeyFrame: isKeyFrame, averageQP: nil)
    }

    // MARK: - Output

    private func readParameterSets() -> [ByteBuffer] {
        var sets: [ByteBuffer] = []
        forEachNALUnit { unit, isParameterSet in
            if isParameterSet { sets.append(ByteBuffer(bytes: unit)) }
        }
        return sets
    }

    private func readSlices() -> ByteBuffer {
        // Start codes take as many bytes as lengths do.
        let capacity = max(0, Int(output.pointee.iFrameSizeInBytes))
        var data = ByteBufferAllocator().buffer(capacity: capacity)
        forEachNALUnit { unit, isParameterSet in
            guard !isParameterSet else { return }
            data.writeInteger(UInt32(truncatingIfNeeded: unit.count))
            data.writeBytes(unit)
        }
        return data
    }

    /// Calls `body` with each NAL unit of the frame, without start code.
    private func forEachNALUnit(_ body: (_ unit: UnsafeRawBufferPointer, _ isParameterSet: Bool) -> Void) {
        withUnsafePointer(to: &output.pointee.sLayerInfo) { tuple in
            let capacity = Int(MAX_LAYER_NUM_OF_FRAME)
            tuple.withMemoryRebound(to: SLayerBSInfo.self, capacity: capacity) { layers in
                for layer in UnsafeBufferPointer(start: layers, count: min(Int(output.pointee.iLayerNum), capacity)) {
                    var offset = 0
                    for index in 0..<Int(layer.iNalCount) {
                        let length = Int(layer.pNalLengthInByte[index])
                        let bytes = UnsafeRawBufferPointer(start: layer.pBsBuf + offset, count: length)
                        offset += length
                        // A start code is zeros and a one.
                        let zeros = bytes.prefix { $0 == 0 }.count
                        let unit = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(zeros + 1))
                        guard let header = unit.first else { continue }
                        body(unit, header & 0x1F == 7 || header & 0x1F == 8)
                    }
                }
            }
        }
    }

    // MARK: - Calls

    private func set<Value: BitwiseCopyable>(_ option: ENCODER_OPTION, to value: Value) throws(VideoCodingError) {
        var value = value
        try check(methods.SetOption(encoder, option, &value))
    }

    private func check(_ status: Int32) throws(VideoCodingError) {
        guard status == 0 else { throw .encodingFailed(backEnd: .openH264, code: Int(status)) }
    }
}
