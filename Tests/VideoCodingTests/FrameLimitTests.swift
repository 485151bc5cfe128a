import MediaCore
import Testing

@testable import VideoCoding

@Suite("Limits on bytes")
struct FrameLimitTests {
    @Test(
        "hold for every frame, keyframes among them", arguments: backEnds(with: .maxFrameBytes), [1500, 4000, 10_000])
    func frames(backEnd: EncoderBackEnd, limit: Int) throws {
        let encoder = try TestEncoder(backEnd, mediumPicture, bitRate: .kilobits(800), profile: .main) {
            $0.maxFrameBytes = DataSize(bytes: limit)
        }
        var pattern = MovingPattern(mediumPicture)
        var outputs: [EncodeOutput] = []
        for number in 0..<75 {
            // Another scene, a keyframe that was asked for, and a rate that falls.
            if number == 30 { pattern.scene = 3 }
            if number == 60 { try encoder.session.set(\.averageBitRate, to: .kilobits(300)) }
            try encoder.session.encode(
                pattern.picture(number), presentationTime: frameTime(number),
                options: EncodeOptions(forceKeyframe: number == 45))
            let output = try #require(encoder.outputs.next())
            #expect(encoder.outputs.next() == nil)
            outputs.append(output)
        }
        let frames = outputs.compactMap(\.frame)
        for frame in frames { #expect(frame.size.bytes <= limit, "\(frame.statistics.type)") }
        // The rest decodes without errors, and most of it is there.
        #expect(try libavcodecPictures(frames.map(\.sample)).count == frames.count)
        let least = limit < 4000 ? 0 : 70
        #expect(frames.count >= least, "\(frames.count) frames within \(limit) bytes")
        #expect(frames.count { $0.isKeyframe } <= (limit < 4000 ? 75 : limit < 10_000 ? 8 : 4))
    }

    @Test(
        "hold with temporal layers, kept references and constant quality too", arguments: backEnds(with: .maxFrameBytes)
    )
    func combinations(backEnd: EncoderBackEnd) throws {
        let changes: [(inout CompressionProperties) -> Void] = [
            { $0.temporalLayers = backEnds(with: .allowFrameReordering).contains(backEnd) ? 1 : 3 },
            { $0.longTermReferences = true },
            {
                $0.rateControlMode = .quality
                $0.quality = 0.6
            },
        ]
        for change in changes {
            let encoder = try TestEncoder(backEnd, mediumPicture, profile: .main) {
                $0.maxFrameBytes = DataSize(bytes: 10_000)
                change(&$0)
            }
            var pattern = MovingPattern(mediumPicture)
            var frames: [EncodedFrame] = []
            for number in 0..<40 {
                if number == 20 { pattern.scene = 3 }
                if let frame = try encoder.encode(pattern.picture(number), number) { frames.append(frame) }
            }
            #expect(frames.allSatisfy { $0.size.bytes <= 10_000 })
            #expect(frames.count > 35)
            #expect(try libavcodecPictures(frames.map(\.sample)).count == frames.count)
        }
    }

    @Test(
        "are met by a keyframe within few tries, and within one more once the content is known",
        arguments: [(EncoderBackEnd.openH264, 1), (.openH264, 3), (.x264, 1)])
    func tries(backEnd: EncoderBackEnd, layers: Int) throws {
        guard backEnds.contains(backEnd) else { return }
        let encoder = try TestEncoder(backEnd, mediumPicture, bitRate: .megabits(3), profile: .main) {
            $0.temporalLayers = layers
            $0.maxFrameBytes = DataSize(bytes: 60_000)
        }
        let pattern = MovingPattern(mediumPicture)
        _ = try encoder.encode(0..<40, of: pattern)
        #expect(encoder.session.statistics.framesRepeated == 0)
        var repeated: [Int] = []
        for number in 0..<5 {
            let before = encoder.session.statistics.framesRepeated
            try encoder.session.set(\.maxFrameBytes, to: DataSize(bytes: 6000))
            let frames = 40 + number * 10
            let keyframe = try #require(
                try encoder.encode(frames..<frames + 1, of: pattern, forcingKeyframes: true).first)
            // Before the first try it is not known how the size falls with the QP.
            #expect(((number == 0 ? 2000 : 3000)...6000).contains(keyframe.size.bytes), "\(keyframe.size)")
            repeated.append(encoder.session.statistics.framesRepeated - before)
            try encoder.session.set(\.maxFrameBytes, to: DataSize(bytes: 60_000))
            _ = try encoder.encode(frames + 1..<frames + 10, of: pattern)
        }
        #expect(repeated[0] <= 3 && repeated.dropFirst().allSatisfy { $0 <= 1 }, "\(repeated)")
    }

    @Test("are met by noise of every amplitude without leaving a picture out", arguments: [0x07, 0x3f, 0xff])
    func noise(mask: Int) throws {
        var random = SeededGenerator(seed: 3)
        let dimensions = VideoDimensions(width: 320, height: 180)
        let encoder = try TestEncoder(.openH264, dimensions, bitRate: .megabits(1), profile: .main) {
            $0.maxFrameBytes = DataSize(bytes: 100_000)
        }
        for number in 0..<12 {
            var buffer = MutablePixelBuffer(format: .i420, dimensions: dimensions)
            // Black now and then, which says nothing of how large noise becomes.
            let amplitude = UInt8(number % 4 == 0 ? 0 : mask)
            for plane in 0..<3 {
                buffer.withMutablePlane(plane) { bytes, _ in
                    for offset in bytes.indices {
                        bytes[offset] = UInt8.random(in: 0...255, using: &random) & amplitude
                    }
                }
            }
            #expect(try encoder.encode(buffer.freeze(), number) != nil, "frame \(number)")
            try encoder.session.set(\.maxFrameBytes, to: DataSize(bytes: 37_500))
        }
    }

    // x264 makes even noise fit.
    @Test("tell a frame that is too large from one for which the time has no room", arguments: [false, true])
    func reasons(isOfTime: Bool) throws {
        var random = SeededGenerator(seed: 4)
        var noise = MutablePixelBuffer(format: .i420, dimensions: mediumPicture)
        for plane in 0..<3 {
            noise.withMutablePlane(plane) { bytes, _ in
                for offset in bytes.indices { bytes[offset] = .random(in: 0...255, using: &random) }
            }
        }
        let limit = DataSize(bytes: 2000)
        let encoder = try TestEncoder(.openH264, mediumPicture, profile: .main) {
            if isOfTime {
                $0.dataRateLimits = [DataRateLimit(size: limit, window: .seconds(1))]
            } else {
                $0.maxFrameBytes = limit
            }
        }
        try encoder.session.encode(noise.freeze(), presentationTime: frameTime(0))
        guard case .dropped(let reason) = encoder.outputs.next()?.result else {
            Issue.record("noise fits in \(limit)")
            return
        }
        #expect(reason == (isOfTime ? .rateControl : .tooLarge))
    }

    #if X264
        @Test("leave keyframes in a row with different numbers where one between them was too large")
        func keyframeNumbers() throws {
            let properties = CompressionProperties(
                averageBitRate: .kilobits(800), profileLevel: H264ProfileLevel(.constrainedBaseline))
            let encoder = try X264Encoder(properties: properties, dimensions: smallPicture)
            let pattern = MovingPattern(smallPicture)
            func keyframeNumber(_ serial: Int64) throws -> Int? {
                let request = FrameRequest(
                    serial: serial, presentationTime: frameTime(Int(serial)), forceKeyframe: true)
                guard case .frame(let frame) = try encoder.encode(pattern.picture(Int(serial)), request) else {
                    return nil
                }
                return frame.slice.keyframeID
            }
            var last = try keyframeNumber(0)
            for (serial, withdrawals) in zip(Int64(1)..., [1, 0, 2, 3, 1, 1]) {
                for _ in 0..<withdrawals {
                    _ = try keyframeNumber(serial)
                    encoder.withdrawLastFrame()
                }
                let number = try keyframeNumber(serial)
                #expect(number != nil && number != last)
                last = number
            }
        }
    #endif

    @Test("hold in every window of time", arguments: backEnds(with: .dataRateLimits), RateControlMode.allCases)
    func windows(backEnd: EncoderBackEnd, mode: RateControlMode) throws {
        let limits = [
            DataRateLimit(size: DataSize(bytes: 60_000), window: .seconds(1)),
            DataRateLimit(size: DataSize(bytes: 25_000), window: .milliseconds(200)),
        ]
        let encoder = try TestEncoder(backEnd, mediumPicture, bitRate: .megabits(2), profile: .main) {
            $0.dataRateLimits = limits
            $0.rateControlMode = mode
            $0.quality = 0.7
        }
        var pattern = MovingPattern(mediumPicture)
        var frames: [EncodedFrame] = []
        for number in 0..<90 {
            if number == 40 { pattern.scene = 2 }
            if let frame = try encoder.encode(pattern.picture(number), number) { frames.append(frame) }
        }
        for limit in limits {
            let length = MediaTime(limit.window, timescale: 90_000)
            for frame in frames {
                let end = frame.sample.presentationTime
                let bytes = frames.filter {
                    $0.sample.presentationTime > end - length && $0.sample.presentationTime <= end
                }
                #expect(bytes.size <= limit.size)
            }
        }
        #expect(try libavcodecPictures(frames.map(\.sample)).count == frames.count)
        // The frames use most of the allowed size.
        if mode != .quality { #expect(frames.size.bytes > 60_000 * 3 * 6 / 10, "\(frames.size) of 180000 B") }
    }

    @Test("decide OpenH264's frames from the first on if they are lower than the rate, whatever that is")
    func lowerThanRate() throws {
        let sizes = try [10.0, 40].map { rate in
            let encoder = try TestEncoder(.openH264, mediumPicture, bitRate: .megabits(rate), profile: .main) {
                $0.maxFrameBytes = DataSize(bytes: 10_000)
            }
            return try encoder.encode(0..<30, of: MovingPattern(mediumPicture)).map(\.size)
        }
        #expect(sizes[0] == sizes[1])
    }

    @Test(
        "behind a coarse keyframe OpenH264's pictures get finer step by step, however many layers there are",
        arguments: 1...3)
    func ramp(layers: Int) throws {
        let encoder = try TestEncoder(.openH264, mediumPicture, bitRate: .megabits(3), profile: .main) {
            $0.temporalLayers = layers
            $0.maxFrameBytes = DataSize(bytes: 60_000)
        }
        let pattern = MovingPattern(mediumPicture)
        _ = try encoder.encode(0..<40, of: pattern)
        try encoder.session.set(\.maxFrameBytes, to: DataSize(bytes: 6000))
        let keyframe = try #require(try encoder.encode(40..<41, of: pattern, forcingKeyframes: true).first)
        try encoder.session.set(\.maxFrameBytes, to: DataSize(bytes: 60_000))
        let frames = try encoder.encode(41..<80, of: pattern).filter { $0.statistics.temporalLayer == 0 }
        let qps = try ([keyframe] + frames).map { try #require($0.statistics.averageQP) }
        #expect(qps[1] == qps[0] - 1, "\(qps)")
        let steps = zip(qps, qps.dropFirst()).prefix(5).map { $1 - $0 }
        #expect(steps.allSatisfy { (-2...2).contains($0) }, "\(qps)")
        #expect(qps[5] < qps[0] - 2, "\(qps)")
    }

    @Test(
        "behind a coarse keyframe a still picture of OpenH264 with layers gets finer by larger steps",
        arguments: [2, 3])
    func stillRamp(layers: Int) throws {
        let encoder = try TestEncoder(.openH264, mediumPicture, bitRate: .megabits(1), profile: .main) {
            $0.temporalLayers = layers
        }
        let picture = MovingPattern(mediumPicture).picture(0)
        func encode(_ pictures: Range<Int>, forcingKeyframe: Bool = false) throws -> [EncodedFrame] {
            try pictures.map { number in
                let options = EncodeOptions(forceKeyframe: forcingKeyframe && number == pictures.lowerBound)
                return try #require(try encoder.encode(picture, number, options: options))
            }
        }
        _ = try encode(0..<60)
        try encoder.session.set(\.maxFrameBytes, to: DataSize(bytes: 6000))
        let keyframe = try #require(try encode(60..<61, forcingKeyframe: true).first)
        try encoder.session.set(\.maxFrameBytes, to: DataSize(bytes: 60_000))
        let frames = try encode(61..<91)
        let qps = try ([keyframe] + frames).filter { $0.statistics.temporalLayer == 0 }
            .map { try #require($0.statistics.averageQP) }
        // By two for each frame of the lowest layer it would be 13.
        #expect(qps[0] - qps[7] >= 14, "\(qps)")
        #expect(frames.allSatisfy { $0.size.bytes <= 12_500 })
    }

    @Test(
        "no refinement of a still picture exceeds its bound, to be made again as a keyframe",
        arguments: [(layers: 1, bound: 5000), (1, 7000), (3, 7000)])
    func boundedRefinement(layers: Int, bound: Int) throws {
        let encoder = try TestEncoder(.openH264, mediumPicture, bitRate: .kilobits(200), profile: .main) {
            $0.temporalLayers = layers
            $0.maxFrameBytes = DataSize(bytes: bound)
        }
        let picture = MovingPattern(mediumPicture).picture(0)
        let frames = try (0..<150).compactMap { try encoder.encode(picture, $0) }
        #expect(frames.count { $0.isKeyframe } == 1)
        let qps = frames.compactMap(\.statistics.averageQP)
        #expect(try #require(qps.last) <= 34, "\(qps)")
    }

    @Test("are nearly used by the keyframe of another scene, however coarse the last one had to be")
    func anotherScene() throws {
        let encoder = try TestEncoder(.openH264, mediumPicture, bitRate: .megabits(3), profile: .main) {
            $0.temporalLayers = 3
            $0.maxFrameBytes = DataSize(bytes: 6000)
        }
        var pattern = MovingPattern(mediumPicture)
        let coarse = try #require(try encoder.encode(0..<1, of: pattern).first)
        try encoder.session.set(\.maxFrameBytes, to: DataSize(bytes: 60_000))
        _ = try encoder.encode(1..<80, of: pattern)
        try encoder.session.set(\.maxFrameBytes, to: DataSize(bytes: 15_000))
        pattern.scene = 3
        let keyframe = try #require(try encoder.encode(80..<81, of: pattern).first)
        #expect(keyframe.isKeyframe)
        #expect((7500...15_000).contains(keyframe.size.bytes), "\(keyframe.size) after \(coarse.size)")
    }

    @Test("hold at the first try if the first keyframe's QP is known, and OpenH264 goes on as behind its own")
    func expectedQP() throws {
        func encode(expecting qp: Int?) throws -> (frames: [EncodedFrame], repeated: Int) {
            let encoder = try TestEncoder(.openH264, mediumPicture, bitRate: .megabits(1), profile: .main) {
                $0.maxFrameBytes = DataSize(bytes: 7000)
            }
            let pattern = MovingPattern(mediumPicture)
            let frames = try (0..<90).compactMap { number in
                var options = EncodeOptions()
                if number == 0 { options.expectedKeyframeQP = qp }
                return try encoder.encode(pattern.picture(number), number, options: options)
            }
            return (frames, encoder.session.statistics.framesRepeated)
        }
        let tried = try encode(expecting: nil)
        let known = try encode(expecting: tried.frames.first?.statistics.averageQP)
        #expect(tried.repeated >= 1 && known.repeated == 0, "\(tried.repeated), \(known.repeated)")
        let sizes = [tried, known].map { $0.frames.map(\.size.bytes).reduce(0, +) }
        #expect(known.frames.count == 90 && sizes[1] < sizes[0] * 11 / 10, "\(sizes)")
    }

    @Test("leave no frame but OpenH264's keyframes over the latency budget", arguments: backEnds)
    func latencyBudget(backEnd: EncoderBackEnd) throws {
        let encoder = try TestEncoder(backEnd, mediumPicture, bitRate: .kilobits(800), profile: .main)
        var pattern = MovingPattern(mediumPicture)
        _ = try encoder.encode(0..<45, of: pattern)
        try encoder.session.set(\.averageBitRate, to: .kilobits(400))
        _ = try encoder.encode(45..<90, of: pattern)
        pattern.scene = 3
        _ = try encoder.encode(90..<91, of: pattern, forcingKeyframes: true)
        _ = try encoder.encode(91..<120, of: pattern)
        let counts = encoder.session.statistics
        #expect(counts.keyframes == 2)
        #expect(counts.framesOverBudget <= (backEnd == .openH264 ? 2 : 0))
    }
}

@Suite("A data rate limiter")
struct DataRateLimiterTests {
    private func time(_ milliseconds: Int) -> MediaTime { MediaTime(value: Int64(milliseconds), timescale: 1000) }

    @Test("allows anything without limits")
    func none() {
        var limiter = DataRateLimiter()
        limiter.spend(1 << 40, at: time(0))
        #expect(limiter.allowance(at: time(1)) == nil)
    }

    @Test("allows the rest of each window")
    func windows() {
        var limiter = DataRateLimiter()
        limiter.setLimits([
            DataRateLimit(size: DataSize(bytes: 1000), window: .milliseconds(1000)),
            DataRateLimit(size: DataSize(bytes: 400), window: .milliseconds(100)),
        ])
        #expect(limiter.allowance(at: time(0)) == 400)
        limiter.spend(300, at: time(0))
        #expect(limiter.allowance(at: time(50)) == 100)
        #expect(limiter.allowance(at: time(100)) == 400)
        limiter.spend(400, at: time(100))
        limiter.spend(250, at: time(200))
        #expect(limiter.allowance(at: time(900)) == 50)
        #expect(limiter.allowance(at: time(1000)) == 350)
        limiter.spend(800, at: time(1000))
        #expect(limiter.allowance(at: time(1001)) == 0)
    }

    @Test("remembers as many frames as a window has")
    func growth() {
        var limiter = DataRateLimiter()
        limiter.setLimits([DataRateLimit(size: DataSize(bytes: 10_000), window: .seconds(60))])
        for number in 0..<2000 { limiter.spend(1, at: time(number)) }
        #expect(limiter.allowance(at: time(2000)) == 8000)
        #expect(limiter.allowance(at: time(61_000)) == 9001)
    }
}
