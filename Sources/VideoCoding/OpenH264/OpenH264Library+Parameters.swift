import COpenH264
import MediaCore

extension OpenH264Library {
    /// A frame is marked as a long-term reference this long after the last one was acknowledged.
    private static let markingPeriod = Duration.milliseconds(500)
    /// The least QP with arithmetic coding, which writes on behind the library's memory where a frame takes more than
    /// its picture's samples. With this QP, noise of black and white takes less.
    static let leastArithmeticQP = 20

    /// A rate as the library takes it. It adds rates up as `Float`s, and refuses a sum that was rounded up.
    static func bitRate(_ rate: BitRate) -> Int32 {
        let bits = Int32(clamping: rate.bitsPerSecond)
        return bits < 1 << 24 ? bits : bits / 32 * 32
    }

    /// The library's parameters for a session.
    func parameters(
        _ properties: CompressionProperties, dimensions: VideoDimensions
    ) throws(VideoCodingError) -> SEncParamExt {
        var parameters = try defaultParameters()
        let bitRate = Self.bitRate(properties.targetBitRate)
        parameters.iUsageType = CAMERA_VIDEO_REAL_TIME
        parameters.iPicWidth = Int32(dimensions.width)
        parameters.iPicHeight = Int32(dimensions.height)
        parameters.iTargetBitrate = bitRate
        parameters.fMaxFrameRate = Float(properties.expectedFrameRate)
        parameters.iSpatialLayerNum = 1
        parameters.iComplexityMode = properties.preset.complexity
        parameters.uiIntraPeriod = 0
        parameters.eSpsPpsIdStrategy = CONSTANT_ID
        parameters.bPrefixNalAddingCtrl = false
        parameters.bEnableSSEI = false
        parameters.iEntropyCodingModeFlag = properties.entropyMode == .cabac ? 1 : 0
        parameters.iMultipleThreadIdc = 1
        parameters.bEnableDenoise = false
        // It takes still areas for background and keeps their poor quality, however many bits there are.
        parameters.bEnableBackgroundDetection = false
        parameters.bEnableFrameCroppingFlag = true
        parameters.bEnableSceneChangeDetect = false
        setRateControl(of: &parameters, properties)
        setReferences(of: &parameters, properties)
        parameters.sSpatialLayers.0.iVideoWidth = Int32(dimensions.width)
        parameters.sSpatialLayers.0.iVideoHeight = Int32(dimensions.height)
        parameters.sSpatialLayers.0.fFrameRate = Float(properties.expectedFrameRate)
        parameters.sSpatialLayers.0.iSpatialBitrate = bitRate
        parameters.sSpatialLayers.0.iMaxSpatialBitrate = Int32(UNSPECIFIED_BIT_RATE)
        parameters.sSpatialLayers.0.uiProfileIdc = EProfileIdc(UInt32(properties.profileLevel.profile.profileIDC))
        // It takes no higher rate than the level's number has.
        parameters.sSpatialLayers.0.uiLevelIdc = ELevelIdc(
            UInt32(properties.profileLevel.level?.covering.levelIDC ?? 0))
        if let size = properties.sliceMaxBytes {
            parameters.sSpatialLayers.0.sSliceArgument.uiSliceMode = SM_SIZELIMITED_SLICE
            parameters.sSpatialLayers.0.sSliceArgument.uiSliceSizeConstraint = UInt32(clamping: size.bytes)
            parameters.uiMaxNalSize = UInt32(clamping: size.bytes)
        } else {
            parameters.sSpatialLayers.0.sSliceArgument.uiSliceMode = SM_SINGLE_SLICE
        }
        setUsability(of: &parameters.sSpatialLayers.0, properties)
        return parameters
    }

    private func setRateControl(of parameters: inout SEncParamExt, _ properties: CompressionProperties) {
        parameters.iRCMode = properties.rateControlMode == .quality ? RC_OFF_MODE : RC_BITRATE_MODE
        parameters.sSpatialLayers.0.iDLayerQp = Int32(properties.qualityQP)
        parameters.iPaddingFlag = properties.rateControlMode == .constant ? 1 : 0
        parameters.bEnableFrameSkip = false
        parameters.iMaxBitrate = Int32(UNSPECIFIED_BIT_RATE)
        // With a lower bound of zero the library replaces both bounds, and its upper one (42) is too low to follow a
        // steep drop of the bitrate.
        let isCapped = properties.rateControlMode == .constrainedVariable
        let leastQP = isCapped ? properties.qualityQP : 10
        parameters.iMinQp = Int32(properties.entropyMode == .cabac ? max(leastQP, Self.leastArithmeticQP) : leastQP)
        parameters.iMaxQp = 51
        // Its own way to make up for overspending has no bound; `OverspendMeter` takes its place.
        parameters.bFixRCOverShoot = false
    }

    private func setReferences(of parameters: inout SEncParamExt, _ properties: CompressionProperties) {
        parameters.iTemporalLayerNum = Int32(properties.temporalLayers)
        parameters.bEnableLongTermReference = properties.longTermReferences
        parameters.iLTRRefNum = properties.longTermReferences ? 2 : 0
        let period = properties.expectedFrameRate * Self.markingPeriod.seconds
        parameters.iLtrMarkPeriod = UInt32(max(1, period))
        let needsOne = properties.temporalLayers == 1 && !properties.longTermReferences
        parameters.iNumRefFrame = needsOne ? 1 : Int32(AUTO_REF_PIC_COUNT)
    }

    private func setUsability(of layer: inout SSpatialLayerConfig, _ properties: CompressionProperties) {
        let aspect = properties.pixelAspectRatio
        if aspect.width != aspect.height {
            layer.bAspectRatioPresent = true
            layer.eAspectRatio = ASP_EXT_SAR
            layer.sAspectRatioExtWidth = UInt16(clamping: aspect.width)
            layer.sAspectRatioExtHeight = UInt16(clamping: aspect.height)
        }
        let colour = properties.colour
        if colour != .unspecified {
            layer.bVideoSignalTypePresent = true
            layer.uiVideoFormat = UInt8(VF_UNDEF.rawValue)
            layer.bFullRange = colour.isFullRange
            layer.bColorDescriptionPresent = true
            layer.uiColorPrimaries = colour.primaries
            layer.uiTransferCharacteristics = colour.transferCharacteristics
            layer.uiColorMatrix = colour.matrixCoefficients
        }
    }
}

extension EncoderPreset {
    /// Its name in OpenH264.
    var complexity: ECOMPLEXITY_MODE {
        switch self {
        case .fastest: LOW_COMPLEXITY
        case .balanced: MEDIUM_COMPLEXITY
        case .quality: HIGH_COMPLEXITY
        }
    }
}
