#if VAAPI
    import Compositing
    import CongestionControl
    import EncoderSharing
    import H264
    import MediaCore
    import PeerConnection
    import PixelTransfer
    import ScriptedDriver
    import Synchronization
    import Testing

    @testable import Conference
    @testable import VideoCoding

    /// Two streams, decoded, composed and encoded on the VA driver for tests.
    private final class Chain {
        static let canvas = VideoDimensions(width: 320, height: 180)
        let driver: ScriptedDriver
        let copies = SurfaceCopyCounter()
        let compositor: DeviceCompositor
        private let renderer: CompositionRenderer
        private let decoders: [DecodingPipeline]
        private let encoder: LazyEncoder
        private let streams: [[SampleBuffer]]

        init(script: String = "") throws {
            driver = try ScriptedDriver(script: script)
            let device = VAAPIDevice.driver(name: driver.deviceName)
            var report = try VAAPIDeviceReport(of: device)
            report.frameLimit = .seconds(30)
            compositor = DeviceCompositor(device, surfaceCopies: copies, frameLimit: .seconds(30))
            renderer = CompositionRenderer(compositor: compositor)
            let copies = copies
            decoders = (0..<2).map { _ in
                DecodingPipeline(device: device, surfaceCopies: copies, deviceLimit: .seconds(30))
            }
            let format = EncodeFormat(dimensions: Self.canvas, properties: CompressionProperties())
            encoder = LazyEncoder(backEnd: .openH264, hardware: report, format: format)
            streams = try (1...2).map { try Self.stream($0, count: 30) }
        }

        private static func stream(_ number: Int, count: Int) throws -> [SampleBuffer] {
            let frames = Mutex<[SampleBuffer]>([])
            let session = try CompressionSession(
                dimensions: canvas, properties: CompressionProperties(averageBitRate: .kilobits(800)),
                outputHandler: { output in
                    if case .frame(let frame) = output.result { frames.withLock { $0.append(frame.sample) } }
                })
            for tick in 0..<count {
                try session.encode(
                    DeviceScene.picture(number, tick: tick), presentationTime: DeviceCompositionRig.time(tick),
                    options: EncodeOptions(forceKeyframe: tick == 0))
            }
            return frames.withLock { $0 }
        }

        /// Decodes the next frame of both streams.
        func decode(_ tick: Int) -> [PixelBuffer] {
            zip(decoders, streams).compactMap { decoder, stream in
                var picture: PixelBuffer?
                decoder.decode(stream[tick]) { event in
                    if case .output(let output) = event { picture = output.picture?.pixelBuffer ?? picture }
                }
                return picture
            }
        }

        func compose(_ pictures: [PixelBuffer], _ tick: Int) -> PixelBuffer {
            Self.compose(pictures, tick, by: renderer)
        }

        static func compose(_ pictures: [PixelBuffer], _ tick: Int, by renderer: CompositionRenderer) -> PixelBuffer {
            let sources = zip(1..., pictures).map { DeviceScene.source($0, $1) }
            return renderer.render(
                [DeviceScene.grid(2)],
                inputs: CompositionInputs(sources: Dictionary(uniqueKeysWithValues: sources.map { ($0.id, $0) })),
                at: DeviceCompositionRig.time(tick))[0].picture
        }

        func encode(_ picture: PixelBuffer, _ tick: Int) -> EncodedPicture {
            let rate = BitRate.megabits(1)
            return encoder.encode(
                picture, captureTime: .zero + .milliseconds(Int64(tick) * 100 / 3),
                settings: LazyEncoder.Settings(
                    bitRate: VideoBitRate(target: rate, sustained: rate), frameRate: 30, hasLayers: false,
                    recovers: false, preset: .fastest, maximumSize: DataSize(bytes: 60_000)),
                options: EncodeOptions(forceKeyframe: tick == 0))
        }

        /// The calls by which pictures cross between memory and the device, so far.
        var crossings: Int {
            ["vaDeriveImage", "vaPutImage", "vaGetImage"].reduce(0) { $0 + driver.lines($1).count }
        }
    }

    @Suite("Pictures that stay on a device")
    struct DeviceSurfaceTests {
        @Test("are decoded, composed and encoded without a copy")
        func chain() throws {
            let chain = try Chain()
            var before = 0
            for tick in 0..<30 {
                let pictures = chain.decode(tick)
                #expect(pictures.count == 2 && pictures.allSatisfy { $0.surface != nil }, "tick \(tick)")
                let canvas = chain.compose(pictures, tick)
                #expect(canvas.surface != nil && canvas.format == .nv12, "tick \(tick)")
                let encoded = chain.encode(canvas, tick)
                #expect(encoded.frame != nil && !encoded.isUploaded, "tick \(tick)")
                // Until then the names are drawn, and the background.
                if tick == 4 { before = chain.crossings }
            }
            #expect(chain.crossings == before, "\(chain.driver.log.suffix(40))")
            #expect(chain.copies.count == 0)
            let work = chain.compositor.takeWork()
            #expect(work.pictures == 30 && work.downloads == 0 && work.faults == 0)
            #expect(chain.driver.lines("frame").count == 30)
            #expect(chain.driver.lines("REFUSED").isEmpty)
        }

        @Test("are copied once when somebody looks at them, and show what software shows")
        func copies() throws {
            let chain = try Chain()
            let software = CompositionRenderer()
            for tick in 0..<10 {
                let pictures = chain.decode(tick)
                let canvas = chain.compose(pictures, tick)
                let expected = Chain.compose(
                    (1...2).map { DeviceScene.picture($0, tick: tick) }, tick, by: software)
                // Both streams and the canvas's scaling lose a little.
                #expect(try PictureQuality.psnr(canvas, expected).y > 34, "tick \(tick)")
                #expect(try PictureQuality.psnr(canvas, expected).average > 34, "tick \(tick)")
                #expect(chain.copies.count == UInt64(tick + 1))
            }
        }

        @Test("are none where the driver shares no surfaces")
        func unshared() throws {
            let chain = try Chain(script: "share 0")
            for tick in 0..<10 {
                let pictures = chain.decode(tick)
                #expect(pictures.count == 2 && pictures.allSatisfy { $0.surface == nil }, "tick \(tick)")
                let canvas = chain.compose(pictures, tick)
                #expect(canvas.surface == nil, "tick \(tick)")
                let encoded = chain.encode(canvas, tick)
                #expect(encoded.frame != nil && encoded.isUploaded, "tick \(tick)")
            }
            #expect(chain.compositor.takeWork().faults == 0)
        }

        @Test("outlive their decoder, and its surfaces do not run out while they are held")
        func held() throws {
            let chain = try Chain()
            let pictures = (0..<20).flatMap { chain.decode($0) }
            #expect(pictures.count == 40)
            // The decoder keeps surfaces for itself.
            #expect((2...20).contains(pictures.count { $0.surface != nil }))
            for (index, picture) in pictures.enumerated() {
                let expected = DeviceScene.picture(1 + index % 2, tick: index / 2)
                #expect(try PictureQuality.psnr(picture, expected).y > 30, "picture \(index)")
            }
        }
    }
#endif
