#if VAAPI
    import H264
    import MediaCore
    import NIOCore
    import ScriptedDriver
    import Testing

    @testable import VideoCoding

    /// A session on the VA driver for tests.
    struct HardwareRig {
        let driver: ScriptedDriver
        let session: CompressionSession
        let outputs = EncodeOutputQueue()

        /// - Parameter limit: By default longer than tests that run side by side hold each other up.
        init(
            _ driver: ScriptedDriver, _ dimensions: VideoDimensions = mediumPicture, bitRate: BitRate = .megabits(1.5),
            profile: H264Profile = .constrainedBaseline, limit: Duration = .seconds(30),
            _ change: (inout CompressionProperties) -> Void = { _ in }
        ) throws {
            self.driver = driver
            var properties = CompressionProperties(averageBitRate: bitRate, profileLevel: H264ProfileLevel(profile))
            change(&properties)
            session = try CompressionSession(
                dimensions: dimensions, backEnd: .vaapi, device: .driver(name: driver.deviceName),
                deviceLimit: limit, properties: properties, outputHandler: outputs.append)
        }

        func encode(
            _ numbers: Range<Int>, options: EncodeOptions = EncodeOptions()
        ) throws -> [EncodedFrame] {
            let pattern = MovingPattern(session.dimensions)
            return try numbers.map { number in
                try session.encode(
                    pattern.picture(number), presentationTime: frameTime(number), options: options)
                switch try #require(outputs.next()).result {
                case .frame(let frame): return frame
                case .failed(let error): throw error
                case .dropped(let reason): throw HardwareRigError(description: "\(reason)")
                }
            }
        }

        func psnr(_ frames: [EncodedFrame], from first: Int = 0) throws -> [Double] {
            let decoder = try TestDecoder(format: try #require(frames.first).sample.format)
            let pattern = MovingPattern(session.dimensions)
            var pictures: [PixelBuffer] = []
            for frame in frames { pictures += decoder.decode(frame.sample).compactMap { $0.picture?.pixelBuffer } }
            pictures += decoder.finishDelayedFrames().compactMap { $0.picture?.pixelBuffer }
            try #require(pictures.count == frames.count)
            return pictures.enumerated().map { signalToNoise($1, pattern.picture(first + $0)) }
        }
    }

    struct HardwareRigError: Error, CustomStringConvertible { var description: String }

    @Suite("An encoder through VA-API")
    struct VAAPIEncoderTests {
        @Test(
            "makes a stream that decodes to the pictures",
            arguments: [
                (H264Profile.constrainedBaseline, 1), (.main, 1), (.high, 1), (.constrainedBaseline, 2),
                (.constrainedBaseline, 3), (.high, 3),
            ])
        func decodes(profile: H264Profile, layers: Int) throws {
            let rig = try HardwareRig(try ScriptedDriver(), profile: profile) { $0.temporalLayers = layers }
            let frames = try rig.encode(0..<24)
            #expect(frames.map(\.isKeyframe) == [true] + Array(repeating: false, count: 23))
            let pattern = layers == 3 ? [0, 2, 1, 2] : layers == 2 ? [0, 1] : [0]
            #expect(frames.map(\.statistics.temporalLayer) == (0..<24).map { pattern[$0 % pattern.count] })
            let psnr = try rig.psnr(frames)
            #expect(psnr.allSatisfy { $0 > 28 }, "\(psnr)")
            #expect(rig.driver.lines("REFUSED").isEmpty)
        }

        @Test("plays without its upper layers")
        func layers() throws {
            let rig = try HardwareRig(try ScriptedDriver()) { $0.temporalLayers = 3 }
            let frames = try rig.encode(0..<24).filter { $0.statistics.temporalLayer == 0 }
            let decoder = try TestDecoder(format: try #require(frames.first).sample.format)
            let pattern = MovingPattern(mediumPicture)
            for (index, frame) in frames.enumerated() {
                let picture = try #require(decoder.decode(frame.sample).first?.picture?.pixelBuffer)
                #expect(signalToNoise(picture, pattern.picture(index * 4)) > 28)
            }
        }

        @Test("writes only the headers that the driver takes", arguments: [0x0, 0x1, 0x3, 0x4, 0x7])
        func packedHeaders(packed: Int) throws {
            let rig = try HardwareRig(try ScriptedDriver(script: "packed \(packed)"), profile: .main)
            let psnr = try rig.psnr(try rig.encode(0..<12))
            #expect(psnr.allSatisfy { $0 > 28 }, "\(psnr)")
        }

        @Test("takes pictures whose sides are no whole macroblocks")
        func cropping() throws {
            let dimensions = VideoDimensions(width: 322, height: 182)
            let rig = try HardwareRig(try ScriptedDriver(), dimensions)
            let frames = try rig.encode(0..<6)
            #expect(frames[0].sample.format.dimensions == dimensions)
            let psnr = try rig.psnr(frames)
            #expect(psnr.allSatisfy { $0 > 28 }, "\(psnr)")
        }

        @Test("follows steps within a tenth after five frames, without a keyframe")
        func rateSteps() throws {
            let rig = try HardwareRig(try ScriptedDriver())
            _ = try rig.encode(0..<60)
            var next = 60
            for target in [BitRate.kilobits(500), .megabits(2)] {
                try rig.session.set(\.averageBitRate, to: target)
                let frames = try rig.encode(next..<next + 35)
                next += 35
                #expect(!frames.contains { $0.isKeyframe })
                let share = BitRate(Array(frames.dropFirst(5)).size, over: .seconds(1)) / target
                #expect(abs(share - 1) < 0.1, "\(share) of \(target)")
            }
        }

        @Test(
            "keeps the rate of a driver that follows slowly by a QP for each frame", arguments: [false, true])
        func slowDriver(controlsQP: Bool) throws {
            let driver = try ScriptedDriver(script: "slow 200")
            let rig = try HardwareRig(driver) { $0.controlsDeviceQP = controlsQP }
            _ = try rig.encode(0..<60)
            var next = 60
            for target in [BitRate.kilobits(500), .megabits(2), .megabits(1), .kilobits(300)] {
                try rig.session.set(\.averageBitRate, to: target)
                let frames = try rig.encode(next..<next + 40)
                next += 40
                #expect(!frames.contains { $0.isKeyframe })
                let share = BitRate(Array(frames.dropFirst(10)).size, over: .seconds(1)) / target
                #expect((abs(share - 1) < 0.1) == controlsQP, "\(share) of \(target)")
                guard controlsQP else { continue }
                let largest = frames.map(\.size).max() ?? .zero
                #expect(largest <= target.dataSize(over: .milliseconds(150)), "\(largest) at \(target)")
            }
            #expect(driver.lines("REFUSED").isEmpty)
        }

        @Test("tells rate, frame rate and buffer with every frame")
        func parameters() throws {
            let rig = try HardwareRig(try ScriptedDriver())
            _ = try rig.encode(0..<10)
            try rig.session.set(\.averageBitRate, to: .kilobits(800))
            _ = try rig.encode(10..<20)
            let rates = rig.driver.lines("RateControl")
            #expect(rates.count == 20)
            #expect(rates.prefix(10).allSatisfy { $0.contains("bits_per_second=1500000 ") })
            #expect(rates.suffix(10).allSatisfy { $0.contains("bits_per_second=800000 ") })
            #expect(rates.allSatisfy { $0.contains("window_size=100 ") && $0.contains("disable_bit_stuffing=1") })
            #expect(rates.allSatisfy { $0.contains("frame_tolerance_mode=2") })
            #expect(rig.driver.lines("FrameRate").count == 20)
            let models = rig.driver.lines("HRD")
            #expect(models.count == 20)
            #expect(models.last?.contains("buffer_size=80000 ") == true)
            let frames = rig.driver.lines("frame")
            #expect(frames.count { $0.contains("idr=1") } == 1)
        }

        @Test("does not tell the driver of changes below a hundredth")
        func smallChanges() throws {
            let rig = try HardwareRig(try ScriptedDriver())
            _ = try rig.encode(0..<2)
            try rig.session.set(\.averageBitRate, to: .kilobits(1505))
            _ = try rig.encode(2..<4)
            #expect(rig.driver.lines("RateControl").allSatisfy { $0.contains("bits_per_second=1500000 ") })
        }

        @Test("keeps each frame within its limit")
        func frameLimit() throws {
            let limit = DataSize(bytes: 10_000)
            let rig = try HardwareRig(try ScriptedDriver()) { $0.maxFrameBytes = limit }
            let frames = try rig.encode(0..<20, options: EncodeOptions(forceKeyframe: true))
            #expect(frames.allSatisfy { $0.size <= limit })
            #expect(frames.allSatisfy { $0.isKeyframe })
        }

        @Test(
            "goes on with a keyframe after a call that failed",
            arguments: ["vaEndPicture", "vaSyncSurface", "vaMapBuffer"])
        func failedCall(function: String) throws {
            let count = function == "vaMapBuffer" ? 8 : 4
            // On the first display alone: the next one counts its calls anew.
            let rig = try HardwareRig(try ScriptedDriver(script: "1:\(function)#\(count) status 0x17"))
            let first = try rig.encode(0..<3)
            let error = #expect(throws: VideoCodingError.self) { _ = try rig.encode(3..<4) }
            guard case .hardwareFailed(let call, _)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(call == function)
            let frames = try rig.encode(4..<10)
            #expect(frames.map(\.isKeyframe) == [true, false, false, false, false, false])
            let psnr = try rig.psnr(frames, from: 4)
            #expect(psnr.allSatisfy { $0 > 28 }, "\(psnr)")
            #expect(first.count == 3)
        }

        @Test("leaves behind a call that does not return, and fails from then on")
        func hang() throws {
            let rig = try HardwareRig(try ScriptedDriver(script: "vaSyncSurface#3 hang"), limit: .seconds(2))
            _ = try rig.encode(0..<2)
            for number in 2..<5 {
                let error = #expect(throws: VideoCodingError.self) { _ = try rig.encode(number..<number + 1) }
                #expect(error == .hardwareHung(.driver(name: rig.driver.deviceName)))
            }
        }

        @Test("tells why there is none", arguments: ["vaInitialize#1 status 0x1", "vaCreateContext#1 status 0x1a"])
        func refused(script: String) throws {
            let rig = try HardwareRig(try ScriptedDriver(script: script))
            let error = #expect(throws: VideoCodingError.self) { try rig.session.prepareToEncodeFrames() }
            guard case .hardwareUnavailable? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }

        @Test("gives all back to the driver at its end")
        func leaks() async throws {
            let driver = try ScriptedDriver()
            do {
                let rig = try HardwareRig(driver)
                _ = try rig.encode(0..<30)
            }
            // The driver's end comes on the encoder's thread.
            let end = ContinuousClock.now + .seconds(60)
            while driver.lines("vaTerminate").isEmpty, ContinuousClock.now < end {
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(driver.lines("vaTerminate").first?.hasSuffix("left=0") == true)
        }

        /// The driver has room for 4,096 buffers, 256 surfaces and 64 images: one that is kept at each frame ends it.
        @Test("takes no more of the driver, however many frames")
        func manyFrames() throws {
            let driver = try ScriptedDriver(logs: false)
            let rig = try HardwareRig(driver, VideoDimensions(width: 64, height: 48))
            let frames = ScriptedDriver.manyFrames
            for first in stride(from: 0, to: frames, by: 100) {
                #expect(try rig.encode(first..<first + 100).count == 100)
            }
        }

        @Test("is told of before a session is made")
        func report() throws {
            let driver = try ScriptedDriver(script: "packed 0x1\nlayers 1\nentrypoint lp\nsize 1920 1088")
            let report = try VAAPIDeviceReport(of: .driver(name: driver.deviceName))
            #expect(report.temporalLayers == 1)
            #expect(report.entryPoint == "EncSliceLP")
            #expect(report.maximumDimensions == VideoDimensions(width: 1920, height: 1088))
            #expect(report.packedHeaders == ["sequence"])
            #expect(report.rateControls == ["CBR", "VBR", "CQP"])
        }

        @Test("needs a device that is there")
        func missing() {
            #expect(throws: VideoCodingError.self) {
                try VAAPIDeviceReport(of: .renderNode(path: "/dev/dri/renderD191"))
            }
            #expect(throws: VideoCodingError.self) { try VAAPIDeviceReport(of: .driver(name: "no-such-driver")) }
        }
    }
#endif
