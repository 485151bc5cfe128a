import MediaCore

/// The abilities of a back end.
struct EncoderCapabilities: Sendable {
    /// A property's values, and whether they can change while frames are being encoded.
    struct Capability: Sendable {
        var range: PropertySupport.Range
        var isDynamic = false
    }

    var properties: [CompressionProperty: Capability]
    var frameOptions: Set<EncodeOption>
    /// The formats that are read in place.
    var pixelFormats: [PixelFormat]

    static let frameRates = 1.0...60.0
    /// Smaller rates than this are taken for this: no encoder makes a picture of less.
    static let minimumBitRate = BitRate.kilobits(10)
    static let minimumSide = 16

    /// The abilities of all back ends.
    private static let common: [CompressionProperty: Capability] = [
        .averageBitRate: Capability(range: .bitRates(minimumBitRate...(.megabits(300))), isDynamic: true),
        .dataRateLimits: Capability(range: .any, isDynamic: true),
        .rateControlMode: Capability(range: .choices(RateControlMode.allCases.map(\.rawValue))),
        .realTime: Capability(range: .choices(["true"])),
        .entropyMode: Capability(range: .choices(EntropyMode.allCases.map(\.rawValue))),
        .profileLevel: Capability(range: .choices(H264Profile.allCases.map(\.rawValue))),
        .maxKeyframeInterval: Capability(range: .integers(1...Int(Int32.max)), isDynamic: true),
        .maxKeyframeIntervalDuration: Capability(
            range: .durations(.milliseconds(1)...(.seconds(1 << 31))), isDynamic: true),
        .expectedFrameRate: Capability(range: .numbers(frameRates), isDynamic: true),
        .quality: Capability(range: .numbers(0...1)),
        .maxFrameBytes: Capability(
            range: .sizes(DataSize(bytes: 200)...DataSize(bytes: Int(Int32.max) / 8)), isDynamic: true),
        .sliceMaxBytes: Capability(range: .sizes(DataSize(bytes: 200)...DataSize(bytes: 1 << 20))),
        .longTermReferences: Capability(range: .choices(["false", "true"])),
        .pixelAspectRatio: Capability(range: .integers(1...65535)),
        .colour: Capability(range: .any),
        .preset: Capability(range: .choices(EncoderPreset.allCases.map(\.rawValue)), isDynamic: true),
        .latencyBudget: Capability(range: .durations(.milliseconds(1)...(.seconds(60))), isDynamic: true),
    ]

    /// The highest rate that `backEnd` takes at a level.
    static func maximumBitRate(of backEnd: EncoderBackEnd, _ level: H264Level, _ profile: H264Profile) -> BitRate {
        let allowed = level.maximumBitRate(profile: profile)
        // OpenH264 goes by the limit of the profiles below High, with 1200 bits for each thousand (A.3.1 j).
        return backEnd == .openH264 ? min(allowed, level.maximumBitRate(profile: .main) * 1.2) : allowed
    }

    static func of(_ backEnd: EncoderBackEnd) -> EncoderCapabilities {
        switch backEnd {
        case .openH264: openH264
        case .x264: x264
        case .vaapi: vaapi
        }
    }

    private static let openH264: EncoderCapabilities = {
        var properties = common
        properties[.temporalLayers] = Capability(range: .integers(1...3))
        // OpenH264 keeps room for a large macroblock and headers in each slice, and for headers once more where a QP is
        // set.
        properties[.sliceMaxBytes]?.range = .sizes(DataSize(bytes: 441)...DataSize(bytes: 1 << 20))
        return EncoderCapabilities(
            properties: properties, frameOptions: [.forceKeyframe, .invalidateReferences, .acknowledgeReferences],
            pixelFormats: [.i420])
    }()

    private static let x264: EncoderCapabilities = {
        var properties = common
        properties[.realTime] = Capability(range: .choices(["false", "true"]))
        properties[.allowFrameReordering] = Capability(range: .choices(["false", "true"]))
        properties[.quality]?.isDynamic = true
        properties[.sliceMaxBytes]?.isDynamic = true
        properties[.intraRefreshPeriod] = Capability(range: .integers(2...1000))
        // Only B-frames can go unreferred to.
        properties[.temporalLayers] = Capability(range: .integers(1...3))
        properties[.multiPassStorage] = Capability(range: .any)
        return EncoderCapabilities(
            properties: properties, frameOptions: [.forceKeyframe, .invalidateReferences, .regionsOfInterest],
            pixelFormats: [.i420, .nv12])
    }()

    /// The capabilities of drivers. An encoder's creation refuses those that its device lacks.
    private static let vaapi: EncoderCapabilities = {
        var properties = common
        // Slices are whole pictures, and the driver chooses how to search.
        properties[.sliceMaxBytes] = nil
        properties[.longTermReferences] = nil
        properties[.temporalLayers] = Capability(range: .integers(1...3))
        properties[.controlsDeviceQP] = Capability(range: .choices(["false", "true"]))
        return EncoderCapabilities(properties: properties, frameOptions: [.forceKeyframe], pixelFormats: [.nv12])
    }()

    /// The properties as users see them.
    static func supportedProperties(of backEnd: EncoderBackEnd) -> [CompressionProperty: PropertySupport] {
        var supported: [CompressionProperty: PropertySupport] = [:]
        for (property, capability) in of(backEnd).properties {
            let others = EncoderBackEnd.allCases.filter { of($0).properties[property] != nil }
            supported[property] = PropertySupport(
                property: property, range: capability.range, canChangeWhileEncoding: capability.isDynamic,
                backEnds: Set(others))
        }
        return supported
    }
}
