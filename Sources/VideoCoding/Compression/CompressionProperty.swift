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
}

/// How a back end honours a property. Without one, the property keeps its default value.
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
        /// Bytes.
        case sizes(ClosedRange<DataSize>)
        /// Lengths of time.
        case durations(ClosedRange<Duration>)
        /// Whatever the type can say.
        case any
    }

    public var property: CompressionProperty
    public var range: Range
    /// Whether it can be set once a frame has been taken; it then holds from the next frame on, without a keyframe.
    public var canChangeWhileEncoding: Bool
    /// All back ends that honour the property, those that this build lacks among them.
    public var backEnds: Set<EncoderBackEnd>
}
