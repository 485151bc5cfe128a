import COpenH264
import MediaCore
import VideoCoding

/// OpenH264 as one would call it by hand, with a session's settings.
final class BareEncoder {
    private let encoder: UnsafeMutablePointer<ISVCEncoder?>
    private let methods: ISVCEncoderVtbl
    private let output: UnsafeMutablePointer<SFrameBSInfo>
    private let dimensions: VideoDimensions
    /// The bytes of all frames except keyframes, start codes included.
    private(set) var bytes = 0

    init(dimensions: VideoDimensions, properties: CompressionProperties, qp: Int) throws {
        var created: UnsafeMutablePointer<ISVCEncoder?>?
        guard WelsCreateSVCEncoder(&created) == 0, let created, let table = created.pointee else {
            throw BenchmarkError.codecFailed(reason: "OpenH264 made no encoder")
        }
        encoder = created
        methods = table.pointee
        self.dimensions = dimensions
        output = .allocate(capacity: 1)
        output.initialize(to: SFrameBSInfo())
        var quiet: Int32 = 0
        try check(methods.SetOption(encoder, ENCODER_OPTION_TRACE_LEVEL, &quiet))
        var parameters = SEncParamExt()
        try check(methods.GetDefaultParams(encoder, &parameters))
        Self.set(&parameters, dimensions, properties, qp: qp)
        try check(methods.InitializeExt(encoder, &parameters))
    }

    deinit {
        _ = methods.Uninitialize(encoder)
        WelsDestroySVCEncoder(encoder)
        output.deallocate()
    }

    /// Applies the settings of a session with a single layer in real time.
    private static func set(
        _ parameters: inout SEncParamExt, _ dimensions: VideoDimensions, _ properties: CompressionProperties,
        qp: Int
    ) {
        parameters.iUsageType = CAMERA_VIDEO_REAL_TIME
        parameters.iPicWidth = Int32(dimensions.width)
        parameters.iPicHeight = Int32(dimensions.height)
        parameters.iTargetBitrate = Int32(clamping: properties.averageBitRate.bitsPerSecond)
        parameters.fMaxFrameRate = Float(properties.expectedFrameRate)
        parameters.iSpatialLayerNum = 1
        parameters.iTemporalLayerNum = 1
        parameters.iComplexityMode =
            switch properties.preset {
            case .fastest: LOW_COMPLEXITY
            case .balanced: MEDIUM_COMPLEXITY
            case .quality: HIGH_COMPLEXITY
            }
        parameters.uiIntraPeriod = 0
        parameters.iNumRefFrame = 1
        parameters.eSpsPpsIdStrategy = CONSTANT_ID
        parameters.iEntropyCodingModeFlag = 1
        parameters.iMultipleThreadIdc = 1
        parameters.bEnableDenoise = false
        parameters.bEnableBackgroundDetection = false
        parameters.bEnableSceneChangeDetect = false
        parameters.bEnableFrameSkip = false
        parameters.iRCMode = properties.rateControlMode == .quality ? RC_OFF_MODE : RC_BITRATE_MODE
        parameters.iMinQp = 10
        parameters.iMaxQp = 51
        parameters.iMaxBitrate = Int32(UNSPECIFIED_BIT_RATE)
        parameters.bFixRCOverShoot = false
        parameters.sSpatialLayers.0.iVideoWidth = parameters.iPicWidth
        parameters.sSpatialLayers.0.iVideoHeight = parameters.iPicHeight
        parameters.sSpatialLayers.0.fFrameRate = parameters.fMaxFrameRate
        parameters.sSpatialLayers.0.iSpatialBitrate = parameters.iTargetBitrate
        parameters.sSpatialLayers.0.iMaxSpatialBitrate = Int32(UNSPECIFIED_BIT_RATE)
        parameters.sSpatialLayers.0.uiProfileIdc = PRO_HIGH
        parameters.sSpatialLayers.0.iDLayerQp = Int32(qp)
        parameters.sSpatialLayers.0.sSliceArgument.uiSliceMode = SM_SINGLE_SLICE
    }

    func encode(_ picture: PixelBuffer, milliseconds: Int64) throws {
        let status = picture.withPlane(0) { luma, lumaStride in
            picture.withPlane(1) { blue, blueStride in
                picture.withPlane(2) { red, redStride in
                    var source = SSourcePicture()
                    source.iColorFormat = Int32(videoFormatI420.rawValue)
                    source.iPicWidth = Int32(dimensions.width)
                    source.iPicHeight = Int32(dimensions.height)
                    source.iStride = (Int32(lumaStride), Int32(blueStride), Int32(redStride), 0)
                    source.pData = (Self.samples(luma), Self.samples(blue), Self.samples(red), nil)
                    source.uiTimeStamp = milliseconds
                    return methods.EncodeFrame(encoder, &source, output)
                }
            }
        }
        try check(status)
        if output.pointee.eFrameType != videoFrameTypeIDR { bytes += Int(output.pointee.iFrameSizeInBytes) }
    }

    /// The library declares its input mutable and only reads it.
    private static func samples(_ bytes: UnsafeRawBufferPointer) -> UnsafeMutablePointer<UInt8>? {
        UnsafeMutableRawPointer(mutating: bytes.baseAddress)?.assumingMemoryBound(to: UInt8.self)
    }

    private func check(_ status: Int32) throws {
        guard status == 0 else { throw BenchmarkError.codecFailed(reason: "OpenH264 fails (\(status))") }
    }
}
