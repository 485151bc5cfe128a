import MediaCore
import Testing

@testable import VideoCoding

@Suite("Compression properties")
struct CompressionPropertyTests {
    private func expectNotSupported(
        _ property: CompressionProperty, _ backEnd: EncoderBackEnd, dimensions: VideoDimensions = smallPicture,
        profile: H264Profile = .high, sourceLocation: SourceLocation = #_sourceLocation,
        _ change: (inout CompressionProperties) -> Void
    ) throws {
        func isExpected(_ error: any Error) -> Bool {
            if case .propertyNotSupported(property, let reason)? = error as? VideoCodingError {
                !reason.isEmpty
            } else {
                false
            }
        }
        #expect(sourceLocation: sourceLocation) {
            _ = try TestEncoder(backEnd, dimensions, profile: profile, change)
        } throws: { isExpected($0) }
        // Neither when it is set later, and then all stays as it was.
        let session = try TestEncoder(backEnd, dimensions, profile: profile).session
        let before = session.properties
        #expect(sourceLocation: sourceLocation) { try session.setProperties(change) } throws: { isExpected($0) }
        #expect(session.properties == before, sourceLocation: sourceLocation)
    }

    @Test("are refused where the back end has nothing of the kind", arguments: backEnds)
    func unsupported(backEnd: EncoderBackEnd) throws {
        let changes: [(CompressionProperty, (inout CompressionProperties) -> Void)] = [
            (.intraRefreshPeriod, { $0.intraRefreshPeriod = 30 }),
            (.temporalLayers, { $0.temporalLayers = 3 }),
            (.longTermReferences, { $0.longTermReferences = true }),
            (.maxFrameBytes, { $0.maxFrameBytes = DataSize(bytes: 10_000) }),
            (.sliceMaxBytes, { $0.sliceMaxBytes = DataSize(bytes: 1200) }),
        ]
        for (property, change) in changes {
            let support = CompressionSession.supportedProperties(of: backEnd)[property]
            switch support?.range {
            case nil: try expectNotSupported(property, backEnd, change)
            case .choices(let words) where words.count == 1: break
            case .integers where property == .temporalLayers && backEnd == .x264: break
            default: _ = try TestEncoder(backEnd, smallPicture, profile: .high, change)
            }
        }
    }

    @Test("are refused where only real time is known, or only frames in order", arguments: backEnds)
    func realTimeOnly(backEnd: EncoderBackEnd) throws {
        guard !backEnds(with: .realTime, "false").contains(backEnd) else { return }
        try expectNotSupported(.realTime, backEnd) { $0.realTime = false }
        try expectNotSupported(.allowFrameReordering, backEnd) { $0.allowFrameReordering = true }
    }

    @Test("are refused out of their range", arguments: backEnds)
    func ranges(backEnd: EncoderBackEnd) throws {
        for rate in [0, -1, 61, .infinity, .nan] {
            try expectNotSupported(.expectedFrameRate, backEnd) { $0.expectedFrameRate = rate }
        }
        for quality in [-0.1, 1.1, .nan] { try expectNotSupported(.quality, backEnd) { $0.quality = quality } }
        for layers in [0, 4, -1] { try expectNotSupported(.temporalLayers, backEnd) { $0.temporalLayers = layers } }
        try expectNotSupported(.maxKeyframeInterval, backEnd) { $0.maxKeyframeInterval = 0 }
        try expectNotSupported(.maxKeyframeIntervalDuration, backEnd) { $0.maxKeyframeIntervalDuration = .zero }
        try expectNotSupported(.latencyBudget, backEnd) { $0.latencyBudget = .zero }
        try expectNotSupported(.maxFrameBytes, backEnd) { $0.maxFrameBytes = DataSize(bytes: -1) }
        try expectNotSupported(.sliceMaxBytes, backEnd) { $0.sliceMaxBytes = DataSize(bytes: 10) }
        try expectNotSupported(.pixelAspectRatio, backEnd) {
            $0.pixelAspectRatio = VideoDimensions(width: 0, height: 70_000)
        }
        for limit in [
            DataRateLimit(size: DataSize(bytes: 10), window: .seconds(1)),
            DataRateLimit(size: DataSize(bytes: 10_000), window: .zero),
            DataRateLimit(size: DataSize(bytes: .max), window: .seconds(1 << 60)),
        ] {
            try expectNotSupported(.dataRateLimits, backEnd) { $0.dataRateLimits = [limit] }
        }
    }

    @Test("are refused in combinations that make no stream", arguments: backEnds)
    func combinations(backEnd: EncoderBackEnd) throws {
        try expectNotSupported(.entropyMode, backEnd, profile: .baseline) { $0.entropyMode = .cabac }
        try expectNotSupported(.longTermReferences, backEnd) {
            $0.longTermReferences = true
            $0.temporalLayers = backEnds(with: .allowFrameReordering).contains(backEnd) ? 1 : 2
            if backEnds(with: .intraRefreshPeriod).contains(backEnd) { $0.intraRefreshPeriod = 20 }
        }
        if backEnd == .openH264 {
            try expectNotSupported(.entropyMode, backEnd) {
                $0.entropyMode = .cabac
                $0.sliceMaxBytes = DataSize(bytes: 1200)
            }
        }
        guard backEnds(with: .allowFrameReordering).contains(backEnd) else { return }
        try expectNotSupported(.allowFrameReordering, backEnd) { $0.allowFrameReordering = true }
        try expectNotSupported(.allowFrameReordering, backEnd, profile: .constrainedBaseline) {
            $0.realTime = false
            $0.allowFrameReordering = true
        }
    }

    @Test("read back the values in force", arguments: backEnds)
    func inForce(backEnd: EncoderBackEnd) throws {
        let session = try TestEncoder(backEnd, mediumPicture, profile: .high).session
        #expect(session.properties.entropyMode == .cabac)
        #expect(session.properties.profileLevel.level?.levelIDC == 30)
        try session.set(\.profileLevel, to: H264ProfileLevel(.constrainedBaseline))
        #expect(session.properties.entropyMode == .cavlc)
        try session.set(\.expectedFrameRate, to: 60)
        #expect(session.properties.profileLevel.level?.levelIDC == 31)
        // Settings that were left to the encoder are fixed with the first frame.
        try session.encode(MovingPattern(mediumPicture).picture(0), presentationTime: .zero)
        #expect(session.format?.profileLevel.levelIDC == 31)
        try session.set(\.expectedFrameRate, to: 30)
        #expect(session.properties.profileLevel.level?.levelIDC == 31)
    }

    @Test("hold the rate within the level's limits", arguments: backEnds)
    func levelLimit(backEnd: EncoderBackEnd) throws {
        let session = try TestEncoder(backEnd, smallPicture) {
            $0.profileLevel.level = H264Level(levelIDC: 11)
        }.session
        try session.set(\.averageBitRate, to: .megabits(50))
        #expect(session.properties.averageBitRate == .kilobits(192))
        try session.set(\.averageBitRate, to: .zero)
        #expect(session.properties.averageBitRate == .kilobits(10))
    }

    @Test("hold a rate beyond every level's within the highest level's", arguments: backEnds)
    func highestLevelLimit(backEnd: EncoderBackEnd) throws {
        let session = try TestEncoder(backEnd, smallPicture, bitRate: .megabits(300)).session
        #expect(session.properties.averageBitRate == .megabits(240))
        #expect(session.properties.profileLevel.level?.levelIDC == 51)
    }

    @Test("take what a decoder takes beyond its level, in a stream that states that level", arguments: backEnds)
    func extendedLevel(backEnd: EncoderBackEnd) throws {
        let size = VideoDimensions(width: 640, height: 480)
        let level = try #require(H264Level(levelIDC: 12)).extended(
            pictureSize: 3600, macroblockRate: 108_000, bitRateUnits: 2000)
        // A rate and a size of which level 1.2 has less than half.
        let encoder = try TestEncoder(backEnd, size) { $0.profileLevel.level = level }
        #expect(try encoder.encode(0..<2, of: MovingPattern(size)).count == 2)
        try encoder.session.set(\.averageBitRate, to: .megabits(2))
        #expect(try encoder.encode(2..<4, of: MovingPattern(size)).count == 2)
        #expect(encoder.session.format?.profileLevel.level == H264ProfileLevelID.Level(idc: 12))
    }

    @Test("are set all or none", arguments: backEnds)
    func allOrNone(backEnd: EncoderBackEnd) throws {
        let session = try TestEncoder(backEnd, smallPicture).session
        let before = session.properties
        #expect(throws: VideoCodingError.self) {
            try session.setProperties {
                $0.averageBitRate = .kilobits(300)
                $0.expectedFrameRate = 1000
            }
        }
        #expect(session.properties == before)
        try session.setProperties {
            $0.averageBitRate = .kilobits(300)
            $0.expectedFrameRate = 20
        }
        #expect(session.properties.averageBitRate == .kilobits(300))
        #expect(session.properties.expectedFrameRate == 20)
    }

    @Test("can change while encoding where that is said, and only there", arguments: backEnds)
    func changeable(backEnd: EncoderBackEnd) throws {
        let changes: [CompressionProperty: (inout CompressionProperties) -> Void] = [
            .averageBitRate: { $0.averageBitRate = .kilobits(700) },
            .dataRateLimits: {
                $0.dataRateLimits = [DataRateLimit(size: DataSize(bytes: 100_000), window: .seconds(1))]
            },
            .rateControlMode: { $0.rateControlMode = .average },
            .realTime: { $0.realTime = false },
            .allowFrameReordering: {
                $0.realTime = false
                $0.allowFrameReordering = true
            },
            .entropyMode: { $0.entropyMode = .cavlc },
            .profileLevel: {
                $0.profileLevel = H264ProfileLevel(.main)
                $0.entropyMode = .cabac
            },
            .maxKeyframeInterval: { $0.maxKeyframeInterval = 30 },
            .maxKeyframeIntervalDuration: { $0.maxKeyframeIntervalDuration = .seconds(2) },
            .expectedFrameRate: { $0.expectedFrameRate = 15 },
            .quality: { $0.quality = 0.5 },
            .maxFrameBytes: { $0.maxFrameBytes = DataSize(bytes: 10_000) },
            .intraRefreshPeriod: { $0.intraRefreshPeriod = 20 },
            .sliceMaxBytes: { $0.sliceMaxBytes = DataSize(bytes: 900) },
            .temporalLayers: { $0.temporalLayers = 2 },
            .longTermReferences: { $0.longTermReferences = true },
            .pixelAspectRatio: { $0.pixelAspectRatio = VideoDimensions(width: 4, height: 3) },
            .colour: { $0.colour = .bt709 },
            .preset: { $0.preset = .quality },
            .latencyBudget: { $0.latencyBudget = .milliseconds(200) },
            .multiPassStorage: {
                $0.realTime = false
                $0.rateControlMode = .average
                $0.multiPassStorage = try? MultiPassStorage()
            },
            .controlsDeviceQP: { $0.controlsDeviceQP = true },
        ]
        #expect(Set(changes.keys) == Set(CompressionProperty.allCases))
        for (property, change) in changes {
            let support = CompressionSession.supportedProperties(of: backEnd)[property]
            let encoder = try TestEncoder(backEnd, smallPicture, profile: .high)
            let pattern = MovingPattern(smallPicture)
            _ = try encoder.encode(0..<2, of: pattern)
            if support?.canChangeWhileEncoding == true {
                try encoder.session.setProperties(change)
                let frames = try encoder.encode(2..<4, of: pattern)
                #expect(!frames.contains { $0.isKeyframe }, "\(property)")
            } else {
                #expect(throws: VideoCodingError.self, "\(property)") { try encoder.session.setProperties(change) }
                #expect(try encoder.encode(2..<4, of: pattern).count == 2)
            }
        }
    }

    @Test("state their support by each back end")
    func support() {
        for backEnd in backEnds {
            for (property, support) in CompressionSession.supportedProperties(of: backEnd) {
                #expect(support.property == property)
                #expect(support.backEnds.contains(backEnd))
            }
        }
        let known = CompressionSession.supportedProperties(of: .openH264)
        #expect(known[.averageBitRate]?.backEnds == Set(EncoderBackEnd.allCases))
        #expect(known[.averageBitRate]?.canChangeWhileEncoding == true)
        #expect(known[.temporalLayers]?.range == .integers(1...3))
        #expect(known[.intraRefreshPeriod] == nil)
    }

    @Test("refuse a size or frame rate beyond the level", arguments: backEnds)
    func beyondLevel(backEnd: EncoderBackEnd) throws {
        for (width, height, rate) in [(1920, 1080, 30.0), (1280, 720, 60)] {
            #expect {
                _ = try TestEncoder(backEnd, VideoDimensions(width: width, height: height)) {
                    $0.expectedFrameRate = rate
                    $0.profileLevel.level = H264Level(levelIDC: 31)
                }
            } throws: { error in
                if case .levelExceeded(levelIDC: 31, _) = error as? VideoCodingError { true } else { false }
            }
        }
    }

    @Test("change nothing of a session that was prepared and has not begun", arguments: backEnds)
    func prepared(backEnd: EncoderBackEnd) throws {
        let encoder = try TestEncoder(backEnd, smallPicture)
        #expect(encoder.session.format == nil)
        try encoder.session.prepareToEncodeFrames()
        #expect(encoder.session.format?.profileLevel.profileIDC == 66)
        try encoder.session.set(\.profileLevel, to: H264ProfileLevel(.high))
        let frame = try encoder.encode(0..<1, of: MovingPattern(smallPicture))[0]
        #expect(frame.isKeyframe)
        #expect(frame.sample.format.profileLevel.profileIDC == 100)
    }

    @Test(
        "can change after a first frame that was not taken, as there was no encoder for it",
        arguments: backEnds(with: .multiPassStorage))
    func changesWithoutEncoder(backEnd: EncoderBackEnd) throws {
        let storage = try MultiPassStorage()
        let encoder = try TestEncoder(backEnd, smallPicture) {
            $0.realTime = false
            $0.rateControlMode = .average
            $0.multiPassStorage = storage
        }
        let picture = MovingPattern(smallPicture).picture(0)
        #expect(throws: VideoCodingError.multiPass(.noPass)) { try encoder.encode(picture, 0) }
        try encoder.session.set(\.multiPassStorage, to: nil)
        try encoder.encode(picture, 0)
        encoder.session.completeFrames()
        #expect(encoder.session.statistics.framesEncoded == 1)
        #expect(throws: VideoCodingError.propertyNotChangeable(.realTime)) {
            try encoder.session.set(\.realTime, to: true)
        }
    }

    @Test("per-frame options are refused by back ends without them", arguments: backEnds)
    func options(backEnd: EncoderBackEnd) throws {
        let encoder = try TestEncoder(backEnd, smallPicture)
        let supported = encoder.session.supportedOptions
        var regions = EncodeOptions()
        regions.regionsOfInterest = [
            RegionOfInterest(rect: PixelRect(x: 0, y: 0, width: 16, height: 16), qpOffset: -6)
        ]
        var acknowledgements = EncodeOptions()
        acknowledgements.acknowledgedReferences = [LongTermReference(frameNumber: 1, keyframeID: 0)]
        let picture = MovingPattern(smallPicture).picture(0)
        for (option, options) in [
            (EncodeOption.regionsOfInterest, regions), (.acknowledgeReferences, acknowledgements),
        ] where !supported.contains(option) {
            #expect(throws: VideoCodingError.optionNotSupported(option, backEnd)) {
                try encoder.encode(picture, 0, options: options)
            }
        }
        #expect(try encoder.encode(picture, 0) != nil)
    }
}
