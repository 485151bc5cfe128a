package import MediaCore

extension CompressionProperties {
    private static let usualBitRate = BitRate.megabits(4)

    /// Returns the values in force when `backEnd` is asked for these properties.
    func resolved(for dimensions: VideoDimensions, by backEnd: EncoderBackEnd) throws(VideoCodingError) -> Self {
        try Self.check(dimensions)
        let capabilities = EncoderCapabilities.of(backEnd)
        for property in CompressionProperty.allCases { try check(property, by: backEnd, capabilities) }
        var inForce = self
        let profile = profileLevel.profile
        if entropyMode == .cabac, !profile.hasCABAC {
            throw .propertyNotSupported(.entropyMode, reason: "\(profile.rawValue) has CAVLC only; take Main or High")
        }
        let prefersCABAC = profile.hasCABAC && !isUnsafeWithCABAC(backEnd)
        inForce.entropyMode = entropyMode ?? (prefersCABAC ? .cabac : .cavlc)
        let level = try resolvedLevel(for: dimensions)
        inForce.profileLevel.level = level
        let highest = max(
            EncoderCapabilities.maximumBitRate(of: backEnd, level, profile), EncoderCapabilities.minimumBitRate)
        inForce.averageBitRate = averageBitRate.clamped(to: EncoderCapabilities.minimumBitRate...highest)
        try checkCombinations(by: backEnd)
        return inForce
    }

    /// The target rate with which the limits hold as well.
    var targetBitRate: BitRate {
        dataRateLimits.reduce(averageBitRate) { min($0, BitRate($1.size, over: $1.window) * Self.limitShare) }
    }

    /// The part of a limit that is the target, because frames vary.
    private static let limitShare = 0.9

    /// The quantisation parameter for `quality`: 10 to 51.
    var qualityQP: Int { 51 - Int(clamping: (quality * 41).rounded()) }

    // MARK: - Checks

    static func check(_ dimensions: VideoDimensions) throws(VideoCodingError) {
        // Bounded one by one before areas are computed from them.
        let sides = EncoderCapabilities.minimumSide...DecodingLimits.default.maximumDimension
        guard sides.contains(dimensions.width), sides.contains(dimensions.height) else {
            throw .invalidConfiguration(
                reason: "a \(dimensions) picture; sides from \(sides.lowerBound) to \(sides.upperBound) can be encoded")
        }
        guard dimensions.width.isMultiple(of: 2), dimensions.height.isMultiple(of: 2) else {
            throw .invalidConfiguration(reason: "a \(dimensions) picture; width and height must be even")
        }
    }

    private func check(
        _ property: CompressionProperty, by backEnd: EncoderBackEnd, _ capabilities: EncoderCapabilities
    ) throws(VideoCodingError) {
        guard let range = capabilities.properties[property]?.range else {
            guard isDefault(property) else {
                throw .propertyNotSupported(property, reason: "\(backEnd.rawValue) has nothing of the kind")
            }
            return
        }
        if let reason = reasonToRefuse(property, range) { throw .propertyNotSupported(property, reason: reason) }
    }

    private func isDefault(_ property: CompressionProperty) -> Bool { !differs(from: Self.defaults, in: property) }

    private static let defaults = CompressionProperties()

    /// Returns true if a property has different values in the two.
    func differs(from other: Self, in property: CompressionProperty) -> Bool {
        switch property {
        case .averageBitRate: averageBitRate != other.averageBitRate
        case .dataRateLimits: dataRateLimits != other.dataRateLimits
        case .rateControlMode: rateControlMode != other.rateControlMode
        case .realTime: realTime != other.realTime
        case .allowFrameReordering: allowFrameReordering != other.allowFrameReordering
        case .entropyMode: entropyMode != other.entropyMode
        case .profileLevel: profileLevel != other.profileLevel
        case .maxKeyframeInterval: maxKeyframeInterval != other.maxKeyframeInterval
        case .maxKeyframeIntervalDuration: maxKeyframeIntervalDuration != other.maxKeyframeIntervalDuration
        case .expectedFrameRate: expectedFrameRate != other.expectedFrameRate
        case .quality: quality != other.quality
        case .maxFrameBytes: maxFrameBytes != other.maxFrameBytes
        case .intraRefreshPeriod: intraRefreshPeriod != other.intraRefreshPeriod
        case .sliceMaxBytes: sliceMaxBytes != other.sliceMaxBytes
        case .temporalLayers: temporalLayers != other.temporalLayers
        case .longTermReferences: longTermReferences != other.longTermReferences
        case .pixelAspectRatio: pixelAspectRatio != other.pixelAspectRatio
        case .colour: colour != other.colour
        case .preset: preset != other.preset
        case .latencyBudget: latencyBudget != other.latencyBudget
        case .multiPassStorage: multiPassStorage != other.multiPassStorage
        case .controlsDeviceQP: controlsDeviceQP != other.controlsDeviceQP
        }
    }

    /// Returns the reason for which a value is out of its range; nil if it is not.
    private func reasonToRefuse(_ property: CompressionProperty, _ range: PropertySupport.Range) -> String? {
        switch property {
        // Held within the level's bounds rather than refused.
        case .averageBitRate: nil
        case .dataRateLimits: reasonToRefuseLimits
        case .rateControlMode: range.reasonToRefuse(word: rateControlMode.rawValue)
        case .realTime: range.reasonToRefuse(word: "\(realTime)")
        case .allowFrameReordering: range.reasonToRefuse(word: "\(allowFrameReordering)")
        case .entropyMode: entropyMode.flatMap { range.reasonToRefuse(word: $0.rawValue) }
        case .profileLevel: range.reasonToRefuse(word: profileLevel.profile.rawValue)
        case .maxKeyframeInterval: maxKeyframeInterval.flatMap(range.reasonToRefuse)
        case .maxKeyframeIntervalDuration: maxKeyframeIntervalDuration.flatMap(range.reasonToRefuse)
        case .expectedFrameRate: range.reasonToRefuse(expectedFrameRate)
        case .quality: range.reasonToRefuse(quality)
        case .maxFrameBytes: maxFrameBytes.flatMap(range.reasonToRefuse)
        case .intraRefreshPeriod: intraRefreshPeriod.flatMap(range.reasonToRefuse)
        case .sliceMaxBytes: sliceMaxBytes.flatMap(range.reasonToRefuse)
        case .temporalLayers: range.reasonToRefuse(temporalLayers)
        case .longTermReferences: range.reasonToRefuse(word: "\(longTermReferences)")
        case .pixelAspectRatio:
            range.reasonToRefuse(pixelAspectRatio.width) ?? range.reasonToRefuse(pixelAspectRatio.height)
        case .colour: nil
        case .preset: range.reasonToRefuse(word: preset.rawValue)
        case .latencyBudget: range.reasonToRefuse(latencyBudget)
        case .multiPassStorage: nil
        case .controlsDeviceQP: range.reasonToRefuse(word: "\(controlsDeviceQP)")
        }
    }

    private var reasonToRefuseLimits: String? {
        for limit in dataRateLimits {
            guard limit.window >= .milliseconds(10), limit.window <= .seconds(3600) else {
                return "a window of \(limit.window); take 10 ms to an hour"
            }
            guard BitRate(limit.size, over: limit.window) >= EncoderCapabilities.minimumBitRate else {
                return "\(limit.size) in \(limit.window); allow \(EncoderCapabilities.minimumBitRate) or more"
            }
        }
        return nil
    }

    /// With arithmetic coding, OpenH264 writes on behind its memory where a frame takes more than its picture's
    /// samples. Small slices of noise do, even with coarse steps.
    private func isUnsafeWithCABAC(_ backEnd: EncoderBackEnd) -> Bool { backEnd == .openH264 && sliceMaxBytes != nil }

    private func checkCombinations(by backEnd: EncoderBackEnd) throws(VideoCodingError) {
        if entropyMode == .cabac, isUnsafeWithCABAC(backEnd) {
            throw .propertyNotSupported(.entropyMode, reason: "OpenH264 makes small slices with CAVLC only")
        }
        if allowFrameReordering, realTime {
            throw .propertyNotSupported(
                .allowFrameReordering, reason: "no frame waits for a later one in real time; set realTime to false")
        }
        if allowFrameReordering, !profileLevel.profile.hasBSlices {
            throw .propertyNotSupported(
                .allowFrameReordering,
                reason: "\(profileLevel.profile.rawValue) has no B-frames; take Main or High")
        }
        if longTermReferences, allowFrameReordering {
            throw .propertyNotSupported(.longTermReferences, reason: "not together with allowFrameReordering")
        }
        if longTermReferences, intraRefreshPeriod != nil {
            throw .propertyNotSupported(.longTermReferences, reason: "not together with intraRefreshPeriod")
        }
        if longTermReferences, temporalLayers > 1 {
            throw .propertyNotSupported(.longTermReferences, reason: "not together with several temporal layers")
        }
        if let reason = reasonToRefusePasses { throw .propertyNotSupported(.multiPassStorage, reason: reason) }
        if backEnd == .x264, temporalLayers > 1, !allowFrameReordering {
            throw .propertyNotSupported(
                .temporalLayers, reason: "x264's upper layers are B-frames; set allowFrameReordering, or take OpenH264")
        }
    }

    private func resolvedLevel(for dimensions: VideoDimensions) throws(VideoCodingError) -> H264Level {
        let frameRate = Int(clamping: expectedFrameRate.rounded(.up))
        if let level = profileLevel.level {
            if let reason = level.reasonToRefuse(dimensions, frameRate: frameRate) {
                throw .levelExceeded(levelIDC: level.levelIDC, reason: reason)
            }
            return level
        }
        guard let lowest = lowestLevel(for: dimensions, frameRate: frameRate, bitRate: averageBitRate) else {
            throw .levelExceeded(
                levelIDC: 52, reason: "no level holds \(dimensions) at \(frameRate) frames a second")
        }
        return lowest
    }

    /// The lowest level for pictures of a size, so many a second, at a rate, with some room for a higher one; nil if
    /// there is none.
    package func lowestLevel(for dimensions: VideoDimensions, frameRate: Int, bitRate: BitRate) -> H264Level? {
        let profile = profileLevel.profile
        // A rate beyond every level's is held within the highest level's.
        let highest = H264Level.all[H264Level.all.count - 1].maximumBitRate(profile: profile)
        return H264Level.lowest(
            for: dimensions, frameRate: frameRate, bitRate: min(max(bitRate, Self.usualBitRate), highest),
            profile: profile)
    }
}

extension PropertySupport.Range {
    fileprivate func reasonToRefuse(word: String) -> String? {
        guard case .choices(let words) = self, !words.contains(word) else { return nil }
        return "\(word); there is \(words.joined(separator: ", "))"
    }

    fileprivate func reasonToRefuse(_ value: Int) -> String? {
        guard case .integers(let range) = self else { return nil }
        return Self.reasonToRefuse(value, range)
    }

    fileprivate func reasonToRefuse(_ value: Double) -> String? {
        guard case .numbers(let range) = self else { return nil }
        return Self.reasonToRefuse(value, range)
    }

    fileprivate func reasonToRefuse(_ value: DataSize) -> String? {
        guard case .sizes(let range) = self else { return nil }
        return Self.reasonToRefuse(value, range)
    }

    fileprivate func reasonToRefuse(_ value: Duration) -> String? {
        guard case .durations(let range) = self else { return nil }
        return Self.reasonToRefuse(value, range)
    }

    private static func reasonToRefuse<Value: Comparable>(_ value: Value, _ range: ClosedRange<Value>) -> String? {
        range.contains(value) ? nil : "\(value); take \(range.lowerBound) to \(range.upperBound)"
    }
}
