#if VAAPI
    import Glibc
    import H264
    import H264Fixtures
    import MediaCore
    import ScriptedDriver
    import Testing

    @testable import VideoCoding

    /// A stream that the VA driver for tests decodes.
    @Suite("A decoder through VA-API")
    struct VAAPIDecoderTests {
        /// The answers to a stream's frames, by their numbers.
        private final class Answers {
            private(set) var results: [Int: DecodeResult] = [:]
            private(set) var pictures: [PixelBuffer] = []

            func take(_ event: DecodingEvent) {
                guard case .output(let output) = event else { return }
                let number = Int(output.token.rawValue)
                #expect(results[number] == nil, "frame \(number) is answered twice")
                results[number] = output.result
                if let picture = output.picture { pictures.append(picture.pixelBuffer) }
            }

            var withoutPicture: [Int: DecodeResult] {
                results.filter { if case .picture = $0.value { false } else { true } }
            }

            func picture(_ number: Int) -> PixelBuffer? {
                if case .picture(let picture) = results[number] { picture.pixelBuffer } else { nil }
            }

            func isAwaitingKeyframe(_ number: Int) -> Bool {
                if case .dropped(.awaitingKeyframe) = results[number] { true } else { false }
            }
        }

        private func decode(
            _ samples: [SampleBuffer], by pipeline: DecodingPipeline, without lost: Set<Int> = []
        ) -> Answers {
            let answers = Answers()
            for (number, sample) in samples.enumerated() where !lost.contains(number) {
                pipeline.decode(sample, token: FrameToken(rawValue: UInt64(number))) { answers.take($0) }
            }
            pipeline.finishDelayedFrames { answers.take($0) }
            return answers
        }

        /// - Parameter limit: By default longer than tests that run side by side hold each other up.
        private func pipeline(_ driver: ScriptedDriver, limit: Duration = .seconds(30)) -> DecodingPipeline {
            DecodingPipeline(device: .driver(name: driver.deviceName), deviceLimit: limit)
        }

        /// Frames with a keyframe at each multiple of 10.
        private static func stream(_ count: Int) throws -> [SampleBuffer] {
            let outputs = EncodeOutputQueue()
            let session = try CompressionSession(
                dimensions: smallPicture, properties: CompressionProperties(averageBitRate: .kilobits(400)),
                outputHandler: outputs.append)
            let pattern = MovingPattern(smallPicture)
            return try (0..<count).map { number in
                try session.encode(
                    pattern.picture(number), presentationTime: frameTime(number),
                    options: EncodeOptions(forceKeyframe: number.isMultiple(of: 10)))
                return try #require(outputs.next()?.frame?.sample)
            }
        }

        /// The driver writes parameter sets anew, and the offsets of a cyclic order of pictures are not among VA-API's
        /// parameters. GPUs have the order itself.
        private static let leftToSoftware: Set = [
            "BAMQ1_JVC_C.264", "BAMQ2_JVC_C.264", "LS_SVA_D.264", "MR1_BT_A.h264", "NLMQ2_JVC_C.264",
        ]

        @Test(
            "gives the pictures of the conformance suite to the bit; those with POC type 1 in software",
            .enabled(if: ConformanceClip.folder != nil, "CONFRELAY_CONFORMANCE_DIR names no folder"),
            arguments: ConformanceClip.all)
        func conformance(clip: ConformanceClip) throws {
            let driver = try ScriptedDriver()
            let pipeline = pipeline(driver)
            let samples = try clip.samples()
            let answers = decode(samples, by: pipeline)
            #expect(answers.results.count == samples.count)
            let digest = PictureDigest()
            for picture in answers.pictures { digest.add(picture) }
            #expect(digest.finish() == clip.expectedDigest, "\(answers.withoutPicture)")
            let isLeft = Self.leftToSoftware.contains(clip.name)
            #expect(pipeline.usesDevice != isLeft, "\(String(describing: pipeline.deviceFault))")
            let decoded = driver.lines("decoded").count
            #expect((decoded >= samples.count) != isLeft, "\(decoded) of \(samples.count); \(driver.log.suffix(3))")
        }

        @Test("answers each frame once, whichever call fails, and goes on at the next keyframe in software")
        func faults() throws {
            let samples = try Self.stream(30)
            let software = decode(samples, by: DecodingPipeline())
            var faults = 0
            for call in 1...160 {
                let driver = try ScriptedDriver(script: "\(call) status 0x1")
                let pipeline = pipeline(driver)
                let answers = decode(samples, by: pipeline)
                #expect(answers.results.count == samples.count, "call \(call)")
                guard pipeline.deviceFault != nil else { continue }
                faults += 1
                #expect(!pipeline.usesDevice)
                let missing = samples.indices.filter { answers.picture($0) == nil }
                #expect(missing.count <= 10, "call \(call): \(missing)")
                for number in samples.indices {
                    guard let picture = answers.picture(number) else { continue }
                    #expect(digest(picture) == software.picture(number).map(digest), "call \(call), frame \(number)")
                }
            }
            // Calls that give something back may fail without harm.
            #expect(faults > 80, "\(faults)")
        }

        private func digest(_ picture: PixelBuffer) -> String {
            let digest = PictureDigest()
            digest.add(picture)
            return digest.finish()
        }

        @Test("goes on in software when the device hangs")
        func hang() throws {
            let driver = try ScriptedDriver(script: "vaEndPicture#5 hang")
            let pipeline = pipeline(driver, limit: .seconds(2))
            let samples = try Self.stream(20)
            let answers = decode(samples, by: pipeline)
            #expect(pipeline.deviceFault == .hardwareHung(.driver(name: driver.deviceName)))
            #expect((0..<4).allSatisfy { answers.picture($0) != nil })
            #expect((4..<10).allSatisfy { answers.picture($0) == nil })
            #expect((10..<20).allSatisfy { answers.picture($0) != nil })
        }

        /// A live stream: its frames, with a keyframe at each multiple of 10, over and over.
        private final class LiveStream {
            let pipeline: DecodingPipeline
            private let driver: ScriptedDriver
            private let samples: [SampleBuffer]
            private(set) var count = 0
            private(set) var wishes = 0

            init(_ driver: ScriptedDriver, limit: Duration = .seconds(30)) throws {
                self.driver = driver
                pipeline = DecodingPipeline(
                    device: .driver(name: driver.deviceName), opensAside: true, deviceLimit: limit)
                samples = try VAAPIDecoderTests.stream(20)
            }

            /// Decodes the next frame. Returns its picture, and its number within the stream.
            func decodeNext() -> (picture: PixelBuffer?, number: Int) {
                var picture: PixelBuffer?
                let number = count % samples.count
                pipeline.decode(samples[number]) { event in
                    if case .output(let output) = event { picture = output.picture?.pixelBuffer }
                }
                count += 1
                if pipeline.takeKeyframeWish() { wishes += 1 }
                return (picture, number)
            }
        }

        @Test("opens while software decodes, and decodes from the keyframe after that")
        func aside() throws {
            let live = try LiveStream(ScriptedDriver(script: "1 delay 100"))
            let software = decode(try Self.stream(20), by: DecodingPipeline())
            func decodeNext() {
                let (picture, number) = live.decodeNext()
                #expect(picture.map(digest) == software.picture(number).map(digest), "frame \(live.count)")
            }
            for _ in 0..<10 { decodeNext() }
            #expect(!live.pipeline.usesDevice)
            let end = ContinuousClock.now + .seconds(60)
            while !live.pipeline.usesDevice, live.pipeline.deviceFault == nil, ContinuousClock.now < end {
                decodeNext()
            }
            #expect(live.pipeline.deviceFault == nil && live.count % 10 == 1)
            for _ in 0..<20 { decodeNext() }
            #expect(live.pipeline.usesDevice && live.wishes <= 1)
            #expect(live.pipeline.statistics.pictures == live.count && live.pipeline.statistics.dropped == 0)
        }

        @Test("leaves a stream to software that the device does not open for")
        func neverOpens() throws {
            let driver = try ScriptedDriver(script: "1 hang")
            let live = try LiveStream(driver, limit: .seconds(1))
            let end = ContinuousClock.now + .seconds(60)
            while live.pipeline.deviceFault == nil, ContinuousClock.now < end {
                #expect(live.decodeNext().picture != nil)
                usleep(2000)
            }
            #expect(live.pipeline.deviceFault == .hardwareHung(.driver(name: driver.deviceName)))
            #expect(!live.pipeline.usesDevice && live.decodeNext().picture != nil)
        }

        @Test("goes on in software when a picture cannot be read")
        func unreadable() throws {
            let driver = try ScriptedDriver(script: "vaGetImage#3 status 0x1")
            let pipeline = pipeline(driver)
            let answers = decode(try Self.stream(20), by: pipeline)
            #expect(pipeline.deviceFault == .hardwareFailed(call: "vaGetImage", code: 0))
            #expect((0..<20).filter { answers.picture($0) != nil } == [0, 1] + Array(10..<20))
        }

        @Test("answers two frames of one time, of which the device held the first back and fails at the second")
        func oneTime() throws {
            let driver = try ScriptedDriver(script: "vaEndPicture#3 status 0x1")
            let pipeline = pipeline(driver)
            var stream = try RawPictureStream()
            let samples = [stream.frame(16, order: 0, isIDR: true), stream.frame(17, order: 4)]
            var last = stream.frame(18, order: 0, isIDR: true)
            last.presentationTime = samples[1].presentationTime
            var shown: [UInt8?] = []
            for sample in samples + [last] {
                pipeline.decode(sample) { event in
                    if case .output(let output) = event { shown.append(output.picture?.pixelBuffer.luma(x: 0, y: 0)) }
                }
            }
            #expect(pipeline.deviceFault != nil)
            #expect(shown == [16, 17, 18])
        }

        @Test("is given no frame that refers to a lost one")
        func gap() throws {
            let driver = try ScriptedDriver()
            let pipeline = pipeline(driver)
            let samples = try Self.stream(30)
            let answers = decode(samples, by: pipeline, without: [4, 23])
            #expect(pipeline.usesDevice)
            let waiting = Array(5..<10) + Array(24..<30)
            #expect(waiting.allSatisfy(answers.isAwaitingKeyframe))
            #expect(driver.lines("decoded").count == 30 - 2 - waiting.count)
            #expect(driver.lines("REFUSED").isEmpty)
        }

        /// The driver has room for 4,096 buffers, 256 surfaces and 64 images: one that is kept at each frame ends it.
        @Test("takes no more of the driver, however many frames")
        func manyFrames() throws {
            let driver = try ScriptedDriver(logs: false)
            let pipeline = pipeline(driver)
            let stream = try Self.stream(100)
            for _ in 0..<ScriptedDriver.manyFrames / stream.count {
                var pictures = 0
                for sample in stream {
                    pipeline.decode(sample) { event in
                        if case .output(let output) = event, output.picture != nil { pictures += 1 }
                    }
                }
                #expect(pictures == stream.count)
            }
            #expect(pipeline.usesDevice)
        }

        @Test("gives all that it had back to the driver")
        func leaks() throws {
            let driver = try ScriptedDriver()
            for size in [smallPicture, mediumPicture] {
                #expect(try decode(Self.stream(12), by: pipeline(driver)).pictures.count == 12, "\(size)")
            }
            #expect(driver.lines("vaTerminate").allSatisfy { $0.hasSuffix("left=0") })
        }
    }
#endif
