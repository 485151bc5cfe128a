#if VAAPI
    import CongestionControl
    import EncoderSharing
    import MediaCore
    import PeerConnection
    import ScriptedDriver
    import Testing
    import VideoCoding

    @testable import Conference

    /// A group's encoder on the VA driver for tests, at 30 pictures a second of virtual time.
    private struct Rig {
        static let dimensions = VideoDimensions(width: 128, height: 96)
        let driver: ScriptedDriver
        let encoder: LazyEncoder
        private let pictures: [PixelBuffer]

        init(script: String, limit: Duration = .seconds(30)) throws {
            try self.init(driver: ScriptedDriver(script: script), limit: limit)
        }

        /// - Parameter limit: By default longer than tests that run side by side hold each other up.
        init(driver: ScriptedDriver, limit: Duration = .seconds(30)) throws {
            self.driver = driver
            // The driver is asked without its faults: they are for the encoder, on the second display.
            var report = try VAAPIDeviceReport(of: .driver(name: driver.deviceName))
            report.frameLimit = limit
            let format = EncodeFormat(dimensions: Self.dimensions, properties: CompressionProperties())
            encoder = LazyEncoder(backEnd: .openH264, hardware: report, format: format)
            pictures = (0..<8).map { number in
                var picture = MutablePixelBuffer(format: .i420, dimensions: Self.dimensions)
                for plane in 0..<3 {
                    picture.withMutablePlane(plane) { bytes, stride in
                        for index in bytes.indices {
                            bytes[index] = UInt8(truncatingIfNeeded: index % stride * 2 + number * 5)
                        }
                    }
                }
                return picture.freeze()
            }
        }

        func encode(_ number: Int, at time: Duration? = nil, forceKeyframe: Bool = false) -> EncodedPicture {
            let rate = BitRate.kilobits(500)
            return encoder.encode(
                pictures[number % pictures.count],
                captureTime: .zero + (time ?? .milliseconds(Int64(number) * 100 / 3)),
                settings: LazyEncoder.Settings(
                    bitRate: VideoBitRate(target: rate, sustained: rate), frameRate: 30, hasLayers: false,
                    recovers: false, preset: .fastest, maximumSize: DataSize(bytes: 20_000)),
                options: EncodeOptions(forceKeyframe: forceKeyframe || number == 0))
        }
    }

    @Suite("A fault of the device that encodes")
    struct DeviceFaultTests {
        private static let frames = 20

        @Test("groups are planned with temporal layers only where the device makes them, too", arguments: 1...3)
        func plannedLayers(count: Int) throws {
            let driver = try ScriptedDriver()
            var configuration = RelayConfiguration()
            configuration.hardware = try VAAPIDeviceReport(of: .driver(name: driver.deviceName))
            configuration.hardware?.temporalLayers = count
            #expect(configuration.makesTemporalLayers == (count > 1))
            configuration.encoder = .x264
            #expect(!configuration.makesTemporalLayers)
        }

        /// Checks that at most `gap` frames are missing in a row, and that one keyframe follows.
        private func check(_ results: [EncodedPicture], gap: Int, _ fault: String) {
            #expect(results.allSatisfy { $0.error == nil }, "\(fault): \(results.compactMap(\.error))")
            let missing = results.indices.filter { results[$0].frame == nil }
            #expect(missing.count <= gap, "\(fault): frames \(missing) are missing")
            let keyframes = results.indices.filter { results[$0].frame?.isKeyframe == true }
            let first = missing.first == 0 ? 0 : 1
            #expect(keyframes.count == first + (missing.isEmpty ? 0 : 1), "\(fault): keyframes \(keyframes)")
            if let last = missing.last, last + 1 < results.count {
                #expect(results[last + 1].frame?.isKeyframe == true, "\(fault)")
            }
        }

        @Test("at each of the first 200 calls costs a frame at most, and one keyframe")
        func status() throws {
            var faults = 0
            for call in 1...200 {
                let rig = try Rig(script: "2:\(call) status 0x1")
                let results = (0..<Self.frames).map { rig.encode($0) }
                check(results, gap: 1, "call \(call)")
                faults += results.count { $0.deviceFault != nil }
                #expect(!rig.driver.lines("FAULT").isEmpty, "call \(call) was never made")
            }
            #expect(faults > 100)
        }

        @Test(
            "that hangs costs a frame at most, and software goes on", arguments: Array(stride(from: 1, to: 200, by: 23))
        )
        func hang(call: Int) throws {
            let rig = try Rig(script: "2:\(call) hang", limit: .milliseconds(200))
            let results = (0..<Self.frames).map { rig.encode($0) }
            check(results, gap: 1, "call \(call)")
            #expect(results.contains { $0.deviceFault?.retryAfter == 30_000 })
        }

        @Test("that loses a surface costs a frame at most each time, and then software goes on")
        func lostSurface() throws {
            let rig = try Rig(script: "2:60 lose")
            let results = (0..<Self.frames).map { rig.encode($0) }
            #expect(results.count { $0.frame == nil } <= 3)
            #expect(results.suffix(5).allSatisfy { $0.frame != nil })
        }

        @Test("leaves other groups' frames as they are, to the bit")
        func others() throws {
            let untouched = try Rig(script: "")
            let expected = (0..<Self.frames).map { untouched.encode($0).frame?.sample.data }
            // Two groups on one driver take turns, on the displays behind those that were asked; the first one's hangs.
            let rig = try Rig(script: "3:70 hang", limit: .milliseconds(200))
            let other = try Rig(driver: rig.driver)
            var faults = 0
            let frames = (0..<Self.frames).map { number in
                if rig.encode(number).deviceFault != nil { faults += 1 }
                return other.encode(number).frame?.sample.data
            }
            #expect(frames == expected)
            #expect(faults == 1)
        }

        @Test("is over when the device works again, from a keyframe that is due in any case")
        func back() throws {
            let rig = try Rig(script: "2:40 hang", limit: .seconds(2))
            let results = (0..<Self.frames).map { rig.encode($0) }
            #expect(results.contains { $0.deviceFault != nil })
            let frames = rig.driver.lines("frame").count
            #expect(rig.encode(30, at: .seconds(40)).frame?.isKeyframe == false)
            #expect(rig.driver.lines("frame").count == frames)
            #expect(rig.encode(31, at: .seconds(41), forceKeyframe: true).frame?.isKeyframe == true)
            #expect(rig.driver.lines("frame").count == frames + 1)
        }
    }
#endif
