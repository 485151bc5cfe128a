import CongestionControl
import EncoderSharing
import MediaCore
import MediaFixtures
import Synchronization
import Testing
import VideoCoding

@testable import Conference

/// The encoders that are made for receivers.
@Suite struct LazyEncoderTests {
    private static let dimensions = VideoDimensions(width: 320, height: 180)

    @Test("an encoder has three temporal layers if they are wanted, otherwise one", arguments: [(true, 3), (false, 1)])
    func layers(areWanted: Bool, expected: Int) throws {
        let made = Mutex<[CompressionProperties]>([])
        let encoder = LazyEncoder(
            backEnd: .openH264,
            make: { dimensions, properties throws(VideoCodingError) in
                made.withLock { $0.append(properties) }
                return try SessionPictureEncoder(dimensions: dimensions, backEnd: .openH264, properties: properties)
            },
            format: EncodeFormat(dimensions: Self.dimensions, properties: CompressionProperties()))
        let settings = LazyEncoder.Settings(
            bitRate: VideoBitRate(target: .kilobits(500), sustained: .kilobits(500)), frameRate: 30,
            hasLayers: areWanted, recovers: false, preset: .balanced, maximumSize: DataSize(bytes: 20_000))
        let picture = PixelBuffer.pattern(.red, dimensions: Self.dimensions, phase: 0)
        let result = encoder.encode(picture, captureTime: .zero, settings: settings, options: EncodeOptions())
        #expect(result.frame != nil)
        #expect(made.withLock { $0.map(\.temporalLayers) } == [expected])
    }

    @Test("an encoder that begins with few pictures a second takes the room's frame rate without a keyframe")
    func frameRate() throws {
        let dimensions = VideoDimensions(width: 640, height: 360)
        var properties = CompressionProperties()
        properties.expectedFrameRate = 30
        let encoder = LazyEncoder(
            backEnd: .openH264, format: EncodeFormat(dimensions: dimensions, properties: properties))
        let keyframes = try [15, 15, 30, 30].enumerated().map { number, frameRate in
            let settings = LazyEncoder.Settings(
                bitRate: VideoBitRate(target: .kilobits(500), sustained: .kilobits(500)), frameRate: frameRate,
                hasLayers: false, recovers: false, preset: .balanced, maximumSize: DataSize(bytes: 20_000))
            let picture = PixelBuffer.pattern(.red, dimensions: dimensions, phase: number)
            let result = encoder.encode(
                picture, captureTime: .zero + .milliseconds(66 * number), settings: settings, options: EncodeOptions())
            return try #require(result.frame).isKeyframe
        }
        #expect(keyframes == [true, false, false, false])
    }
}
