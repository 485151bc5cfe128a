public import MediaCore

/// The properties of a compression session, by name.
public enum CompressionProperty: String, CaseIterable, Sendable {
    case averageBitRate
    case dataRateLimits
    case rateControlMode
    case realTime
    case allowFrameReordering
    case entropyMode
    case profileLevel
    case maxKeyframeInterval
    case maxKeyframeIntervalDuration
    case expectedFrameRate
    case quality
    case maxFrameBytes
    case intraRefreshPeriod
    case sliceMaxBytes
    case temporalLayers
    case longTermReferences
    case pixelAspectRatio
    case colour
    case preset
    case latencyBudget
    case multiPassStorage
    case controlsDeviceQP
}

/// The support of a property by a back end. An unsupported property keeps its default value.
public struct PropertySupport: Hashable, Sendable {
    /// The values that a property may have. Some combinations with other properties are still refused when they are
    /// set.
    public enum Range: Hashable, Sendable {
        /// One of these words, which are the values' raw values; "true" and "false" for a truth value.
        case choices([String])
        /// A whole number, a count of frames or of layers.
        case integers(ClosedRange<Int>)
        /// A number without unit, or a rate of frames a second.
        case numbers(ClosedRange<Double>)
        /// Bits per second.
        case bitRates(ClosedRange<BitRate>)
        /// A range of sizes in bytes.
        case sizes(ClosedRange<DataSize>)
        /// Lengths of time.
        case durations(ClosedRange<Duration>)
        /// Any value of the type.
        case any
    }

    public var property: CompressionProperty
    public var range: Range
    /// True if the property can be set after a frame has been taken. It then holds from the next frame on, without a
    /// keyframe.
    public var canChangeWhileEncoding: Bool
    /// All back ends that support the property, even if they are not part of this build.
    public var backEnds: Set<EncoderBackEnd>
}
