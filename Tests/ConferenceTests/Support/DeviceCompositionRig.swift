#if VAAPI
    import Compositing
    import MediaCore
    import MediaFixtures
    import PixelTransfer
    import ScriptedDriver
    import VideoCoding

    @testable import Conference

    /// A room's compositor on the VA driver for tests, beside the one in software, at 30 pictures a second of virtual
    /// time.
    final class DeviceCompositionRig {
        let driver: ScriptedDriver
        let device: DeviceCompositor
        private let onDevice: CompositionRenderer
        private let inSoftware = CompositionRenderer()

        /// - Parameter limit: By default longer than tests that run side by side hold each other up.
        convenience init(script: String = "", limit: Duration = .seconds(30)) throws {
            try self.init(ScriptedDriver(script: script), limit: limit)
        }

        init(_ driver: ScriptedDriver, limit: Duration = .seconds(30)) throws {
            self.driver = driver
            device = DeviceCompositor(.driver(name: driver.deviceName), frameLimit: limit)
            onDevice = CompositionRenderer(compositor: device)
        }

        func compose(
            _ request: CompositionRequest, _ sources: [CompositionSource], tick: Int
        ) -> ComposedPicture {
            onDevice.render([request], inputs: Self.inputs(sources), at: Self.time(tick))[0]
        }

        /// The picture's ratio to the one of software, and how it came about.
        func compare(
            _ request: CompositionRequest, _ sources: [CompositionSource], tick: Int
        ) throws -> (psnr: Double, origin: ComposedPicture.Origin) {
            let picture = compose(request, sources, tick: tick)
            let expected = inSoftware.render([request], inputs: Self.inputs(sources), at: Self.time(tick))[0]
            let psnr = try PictureQuality.psnr(picture.picture, expected.picture)
            return (min(psnr.y, psnr.average), picture.origin)
        }

        static func time(_ tick: Int) -> MediaTime { MediaTime(value: Int64(tick), timescale: 30) }

        private static func inputs(_ sources: [CompositionSource]) -> CompositionInputs {
            CompositionInputs(
                sources: Dictionary(uniqueKeysWithValues: sources.map { ($0.id, $0) }), wallClock: 1_000_000)
        }
    }

    /// Sources that move from tick to tick, and layouts of them.
    enum DeviceScene {
        static let canvas = VideoDimensions(width: 320, height: 180)

        static func id(_ number: Int) -> SourceID { .camera(ParticipantID(rawValue: UInt64(number))) }

        static func picture(
            _ number: Int, tick: Int, size: VideoDimensions = VideoDimensions(width: 320, height: 180),
            format: PixelFormat = .i420, colour: ColourDescription = .unspecified
        ) -> PixelBuffer {
            .waves(number, tick: tick, dimensions: size, format: format, colour: colour)
        }

        static func source(
            _ number: Int, _ picture: PixelBuffer, rotation: VideoRotation = .none, isStale: Bool = false,
            isSpeaking: Bool? = false
        ) -> CompositionSource {
            CompositionSource(
                id: id(number), name: "Person \(number)",
                content: .picture(picture, rotation: rotation, isStale: isStale),
                decoration: isSpeaking.map { TileDecoration(isSpeaking: $0) })
        }

        static func sources(_ count: Int, tick: Int) -> [CompositionSource] {
            (1...count).map { source($0, picture($0, tick: tick), isSpeaking: $0 == 2) }
        }

        static func grid(_ count: Int) -> CompositionRequest {
            CompositionRequest(grid: (1...count).map(id), canvas: canvas)
        }
    }
#endif
