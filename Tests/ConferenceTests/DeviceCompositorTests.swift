#if VAAPI
    import Compositing
    import Foundation
    import MediaCore
    import PixelTransfer
    import ScriptedDriver
    import Testing
    import VideoCoding

    @testable import Conference

    @Suite("A compositor on a device")
    struct DeviceCompositorTests {
        /// A picture of software's and its sources.
        private struct Scene: Sendable, CustomTestStringConvertible {
            var name: String
            var request: CompositionRequest
            var sources: @Sendable (_ tick: Int) -> [CompositionSource]

            var testDescription: String { name }

            init(
                _ name: String, _ request: CompositionRequest,
                _ sources: @escaping @Sendable (_ tick: Int) -> [CompositionSource]
            ) {
                (self.name, self.request, self.sources) = (name, request, sources)
            }
        }

        private typealias S = DeviceScene

        private static func layers(
            _ count: Int, _ change: (Int, inout CompositionLayer) -> Void
        ) -> CompositionRequest {
            var request = S.grid(count)
            for index in request.instruction.layers.indices { change(index, &request.instruction.layers[index]) }
            return request
        }

        /// The second source small above the first, which covers the canvas.
        private static func inset(_ change: (inout CompositionLayer) -> Void) -> CompositionRequest {
            let whole = CompositionLayer(source: S.id(1), rect: PixelRect(S.canvas), fit: LayerFit(.cover))
            var small = CompositionLayer(source: S.id(2), rect: PixelRect(x: 200, y: 100, width: 112, height: 72))
            change(&small)
            return CompositionRequest(canvas: S.canvas, layers: [whole, small])
        }

        private static func two(
            _ change: @escaping @Sendable (_ tick: Int) -> CompositionSource
        ) -> @Sendable (_ tick: Int) -> [CompositionSource] {
            { tick in [S.source(1, S.picture(1, tick: tick)), change(tick)] }
        }

        private static let portrait = VideoDimensions(width: 90, height: 160)
        private static let second = MediaTimeRange(start: .zero, duration: MediaTime(value: 1, timescale: 1))

        private static let scenes: [Scene] = [
            Scene("one of the canvas's size", S.grid(1)) { S.sources(1, tick: $0) },
            Scene("four, with labels and a speaker", S.grid(4)) { S.sources(4, tick: $0) },
            Scene("five that cover their places", layers(5) { $1.fit = LayerFit(.cover) }) { S.sources(5, tick: $0) },
            Scene("more than one picture has room for", S.grid(25)) { tick in
                (1...25).map { S.source($0, S.picture($0, tick: tick, size: portrait), isSpeaking: nil) }
            },
            Scene("bars beside pictures, and a background", layers(2) { $1.rect.height = 120 }) { tick in
                (1...2).map { S.source($0, S.picture($0, tick: tick, size: portrait)) }
            },
            Scene(
                "bars above another picture", inset { _ in },
                two { S.source(2, S.picture(2, tick: $0, size: portrait)) }),
            Scene(
                "a label that a picture hides in part", inset { $0.rect.x = 20 },
                two { tick in
                    S.source(2, S.picture(2, tick: tick), isSpeaking: true)
                }),
            Scene("placeholders", S.grid(3)) { tick in
                S.sources(2, tick: tick) + [
                    CompositionSource(
                        id: S.id(3), name: "Eve", content: .placeholder(), decoration: TileDecoration())
                ]
            },
            Scene(
                "borders and round corners beside a colour",
                layers(4) {
                    $1.cornerRadius = 12
                    $1.border = LayerBorder(width: 2, colour: .white)
                    _ = $0
                }
            ) { S.sources(4, tick: $0) },
            Scene("round corners above a picture", inset { $0.cornerRadius = 16 }) { S.sources(2, tick: $0) },
            Scene("a picture seen through", inset { $0.opacity = 0.4 }) { tick in
                (1...2).map { S.source($0, S.picture($0, tick: tick), isSpeaking: nil) }
            },
            Scene("a tile with a label seen through", inset { $0.opacity = 0.6 }) { S.sources(2, tick: $0) },
            Scene(
                "tiles that move and fade",
                layers(4) {
                    $1.rectRamps = [
                        Ramp(timeRange: second, from: $1.rect, to: PixelRect(x: 40, y: 20, width: 120, height: 68))
                    ]
                    $1.opacityRamps = [Ramp(timeRange: second, from: 0.2, to: 1)]
                    $1.zOrder = $0
                }
            ) { S.sources(4, tick: $0) },
            Scene("a tile half off the canvas", inset { $0.rect.x = 260 }) { S.sources(2, tick: $0) },
            Scene(
                "a turned picture", inset { _ in },
                two { tick in
                    S.source(2, S.picture(2, tick: tick, size: portrait), rotation: .clockwise90)
                }),
            Scene(
                "a picture upside down, cropped", inset { $0.fit = LayerFit(.cover) },
                two { tick in
                    S.source(2, S.picture(2, tick: tick, size: portrait), rotation: .rotate180)
                }),
            Scene(
                "a dimmed picture", inset { _ in },
                two { tick in
                    S.source(2, S.picture(2, tick: tick), isStale: true)
                }),
            Scene(
                "a picture of another colour", inset { _ in },
                two { tick in
                    S.source(2, S.picture(2, tick: tick, colour: .bt709))
                }),
            Scene("pictures in NV12", S.grid(4)) { tick in
                (1...4).map { S.source($0, S.picture($0, tick: tick, format: .nv12)) }
            },
            Scene(
                "a picture of odd sides", inset { _ in },
                two { tick in
                    S.source(2, S.picture(2, tick: tick, size: VideoDimensions(width: 321, height: 181)))
                }),
            Scene(
                "overlays",
                {
                    var request = S.grid(2)
                    request.instruction.overlays = [
                        CompositionOverlay(.text("A headline"), anchor: .top, height: 0.12),
                        CompositionOverlay(.clock(utcOffset: 60), anchor: .bottomRight, height: 0.1, opacity: 0.7),
                    ]
                    return request
                }()
            ) { S.sources(2, tick: $0) },
        ]

        /// The driver with all that it can, and without each of it.
        private static let scripts = [
            "", "blend 0x0", "blend 0x1", "bgra 0", "rotation 0x1", "derive 0", "surfaces 16",
            "blend 0x0\nrotation 0x1\nbgra 0\nderive 0",
        ]

        @Test("makes the pictures that software makes, within 38 dB, whatever the driver can", arguments: scripts)
        func likeSoftware(script: String) throws {
            for scene in Self.scenes {
                let rig = try DeviceCompositionRig(script: script)
                for tick in 0..<4 {
                    let (psnr, origin) = try rig.compare(scene.request, scene.sources(tick), tick: tick)
                    #expect(psnr >= 38, "\(scene.name), tick \(tick)")
                    #expect(origin == .rendered, "\(scene.name)")
                }
                let work = rig.device.takeWork()
                #expect(work.pictures == 4, "\(scene.name): \(work.reason ?? "")")
                #expect(work.faults == 0, "\(scene.name): \(work.reason ?? "")")
                #expect(rig.driver.lines("REFUSED").isEmpty, "\(scene.name)")
            }
        }

        @Test("makes one picture of all tiles, and uploads each new picture once, and names never again")
        func uploads() throws {
            let rig = try DeviceCompositionRig()
            let first = S.picture(1, tick: 0)
            for tick in 0..<3 {
                let others = (2...4).map { S.source($0, S.picture($0, tick: tick)) }
                _ = rig.compose(S.grid(4), [S.source(1, first)] + others, tick: tick)
            }
            let log = rig.driver.log
            let pictures = log.split { $0.contains("vaBeginPicture") }.dropFirst()
            #expect(pictures.count == 3)
            // The background, four tiles, and a sheet with the names.
            #expect(rig.driver.lines("processed").allSatisfy { $0.hasSuffix("surfaces=6") })
            for call in ["vaRenderPicture", "vaEndPicture"] {
                #expect(rig.driver.lines(call).count == (call == "vaEndPicture" ? 3 : 18))
            }
            // All six at first, then the three that change. Of the names two are drawn for a picture.
            #expect(rig.driver.lines("vaDeriveImage").count == 6 + (3 + 1) + 3)
        }

        @Test("uploads a sheet again when somebody speaks")
        func speaking() throws {
            let rig = try DeviceCompositionRig()
            let pictures = (1...4).map { S.picture($0, tick: 0) }
            for tick in 0..<4 {
                let sources = zip(1..., pictures).map { S.source($0, $1, isSpeaking: $0 == 1 && tick >= 2) }
                _ = rig.compose(S.grid(4), sources, tick: tick)
            }
            // Of the names two are drawn for a picture.
            #expect(rig.driver.lines("vaDeriveImage").count == 6 + 1 + 1)
        }

        @Test("loses no picture, whichever of the first 200 calls fails")
        func faults() throws {
            var faults = 0
            for call in 1...200 {
                let rig = try DeviceCompositionRig(script: "1:\(call) status 0x1")
                for tick in 0..<8 {
                    let (psnr, origin) = try rig.compare(S.grid(4), S.sources(4, tick: tick), tick: tick)
                    #expect(psnr >= 38 && origin == .rendered, "call \(call), tick \(tick)")
                }
                #expect(!rig.driver.lines("FAULT").isEmpty, "call \(call) was never made")
                let work = rig.device.takeWork()
                #expect(work.faults <= 1 && work.pictures >= (call < 20 ? 0 : 7), "call \(call)")
                faults += Int(work.faults)
            }
            // Calls that give something back may fail without harm.
            #expect(faults > 120, "\(faults)")
        }

        @Test("goes on in software for 30 seconds after a hang, and on the device then")
        func hang() throws {
            let rig = try DeviceCompositionRig(script: "1:90 hang", limit: .seconds(2))
            func check(_ ticks: Range<Int>) throws {
                for tick in ticks {
                    let (psnr, origin) = try rig.compare(S.grid(4), S.sources(4, tick: tick), tick: tick)
                    #expect(psnr >= 38 && origin == .rendered, "tick \(tick)")
                }
            }
            try check(0..<20)
            let work = rig.device.takeWork()
            #expect(work.faults == 1)
            #expect(work.reason?.hasSuffix("again after 30 s") == true, "\(work.reason ?? "")")
            try check(880..<885)
            #expect(rig.device.takeWork().pictures == 0)
            try check(960..<965)
            #expect(rig.device.takeWork().pictures == 5)
        }

        @Test("goes on in software after three errors in two seconds, and makes each picture")
        func errors() throws {
            let rig = try DeviceCompositionRig(script: "vaEndPicture#3 status 0x1")
            for tick in 0..<30 {
                let (psnr, origin) = try rig.compare(S.grid(4), S.sources(4, tick: tick), tick: tick)
                #expect(psnr >= 38 && origin == .rendered, "tick \(tick)")
            }
            // Each new display fails at its third picture.
            let work = rig.device.takeWork()
            #expect(work.faults == 3 && work.pictures == 6)
        }

        @Test("takes a surface that is gone for an error")
        func lostSurface() throws {
            let rig = try DeviceCompositionRig(script: "1:100 lose")
            for tick in 0..<20 {
                let (psnr, origin) = try rig.compare(S.grid(4), S.sources(4, tick: tick), tick: tick)
                #expect(psnr >= 38 && origin == .rendered, "tick \(tick)")
            }
            #expect(rig.device.takeWork().faults <= 3)
        }

        @Test("leaves canvases that are larger than the device's to software")
        func size() throws {
            let rig = try DeviceCompositionRig(script: "size 200 200")
            let (psnr, _) = try rig.compare(S.grid(4), S.sources(4, tick: 0), tick: 0)
            #expect(psnr >= 38)
            #expect(rig.device.takeWork().pictures == 0)
        }

        @Test(
            "is not used where the driver does not compose, or not right",
            arguments: ["", "processing 0", "surfaces 1"])
        func trial(script: String) throws {
            let driver = try ScriptedDriver(script: script)
            let device = VAAPIDevice.driver(name: driver.deviceName)
            if script.isEmpty {
                #expect(try device.composingDriver().contains("Software VA driver"))
            } else {
                #expect(throws: VideoCodingError.self) { try device.composingDriver() }
            }
        }

        /// Pictures of the test for leaks: `CONFRELAY_DEVICE_PICTURES` has it make more.
        private static let pictureCount =
            ProcessInfo.processInfo.environment["CONFRELAY_DEVICE_PICTURES"].flatMap(Int.init) ?? 3000

        @Test("keeps no surface and no buffer that it does not need")
        func leaks() async throws {
            let driver = try ScriptedDriver(script: "quiet 1")
            do {
                let rig = try DeviceCompositionRig(driver)
                let reel = (0..<8).map { S.sources(4, tick: $0) }
                for tick in 0..<Self.pictureCount {
                    // People come and go, and speak. The driver refuses a 257th surface and a 4097th buffer.
                    var sources = Array(reel[tick % reel.count].prefix(2 + tick / 100 % 3))
                    sources[0].decoration?.isSpeaking = tick / 30 % 2 == 0
                    #expect(rig.compose(S.grid(sources.count), sources, tick: tick).origin == .rendered)
                }
                let work = rig.device.takeWork()
                #expect(work.faults == 0 && work.pictures == Self.pictureCount, "\(work.reason ?? "")")
            }
            // The thread lets go of the display when its owner has.
            let end = ContinuousClock.now + .seconds(60)
            while driver.lines("vaTerminate").isEmpty, ContinuousClock.now < end {
                try await Task.sleep(for: .milliseconds(20))
            }
            let ends = driver.lines("vaTerminate")
            #expect(ends.count == 1 && ends.allSatisfy { $0.hasSuffix("left=0") }, "\(ends)")
        }
    }
#endif
