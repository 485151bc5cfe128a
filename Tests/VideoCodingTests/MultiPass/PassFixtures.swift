import MediaCore
import PixelTransfer
import Synchronization
import Testing

@testable import VideoCoding

/// Video of varying complexity: stills, slow and quick scenes, one after the other.
struct VaryingPattern {
    static let dimensions = VideoDimensions(width: 192, height: 144)
    /// Each scene's speed, in tenths of the pattern's own.
    private static let speeds = [0, 10, 2, 40, 1, 20]
    static let sceneLength = 30
    static let frameCount = speeds.count * sceneLength

    func picture(_ number: Int) -> PixelBuffer {
        var pattern = MovingPattern(Self.dimensions)
        let scene = number / Self.sceneLength
        pattern.scene = scene * 3 + 1
        return pattern.picture(100 + number % Self.sceneLength * Self.speeds[scene % Self.speeds.count] / 10)
    }
}

/// A recording that is encoded in passes, with a silo for the frames.
final class Recording {
    let silo: FrameSilo
    let storage: MultiPassStorage
    let session: CompressionSession
    private let outputs: Outputs
    private let frameCount: Int
    private let picture: (Int) throws -> PixelBuffer

    final class Outputs: Sendable {
        let all = Mutex<[EncodeOutput]>([])
        let failures = Mutex<[String]>([])

        func take(_ output: EncodeOutput, into silo: FrameSilo) {
            all.withLock { $0.append(output) }
            do {
                if let frame = output.frame { try silo.add(frame.sample) }
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
    }

    /// - Parameter folder: The folder for the files of silo and storage; nil for memory and a temporary file.
    init(
        bitRate: BitRate, folder: TemporaryFolder? = nil, dimensions: VideoDimensions = VaryingPattern.dimensions,
        frameCount: Int = VaryingPattern.frameCount,
        _ change: (inout CompressionProperties) -> Void = { _ in },
        picture: @escaping (Int) throws -> PixelBuffer = { VaryingPattern().picture($0) }
    ) throws {
        let silo = try FrameSilo(path: folder?.file("silo"))
        let outputs = Outputs()
        self.silo = silo
        self.outputs = outputs
        self.frameCount = frameCount
        self.picture = picture
        storage = try MultiPassStorage(path: folder?.file("storage"))
        var properties = Self.properties(bitRate)
        properties.multiPassStorage = storage
        change(&properties)
        session = try CompressionSession(dimensions: dimensions, backEnd: .x264, properties: properties) {
            outputs.take($0, into: silo)
        }
    }

    static func properties(_ bitRate: BitRate) -> CompressionProperties {
        var properties = CompressionProperties(averageBitRate: bitRate, profileLevel: H264ProfileLevel(.high))
        properties.realTime = false
        properties.rateControlMode = .average
        properties.allowFrameReordering = true
        return properties
    }

    /// Everything that came out since the last time.
    func takeOutputs() -> [EncodeOutput] {
        outputs.all.withLock { all in
            defer { all = [] }
            return all
        }
    }

    /// The frames that the next pass is for.
    var numbersOfNextPass: [Int] {
        let ranges = session.timeRangesForNextPass
        return (0..<frameCount).filter { number in ranges.contains { $0.contains(frameTime(number)) } }
    }

    func encode(_ number: Int, options: EncodeOptions = EncodeOptions()) throws {
        try session.encode(
            picture(number), presentationTime: frameTime(number), options: options,
            token: FrameToken(UInt64(number)))
    }

    /// Makes a pass.
    func makePass(forcingKeyframes forced: Set<Int> = []) throws -> PassResult {
        let numbers = numbersOfNextPass
        try silo.setTimeRangesForNextPass(session.timeRangesForNextPass)
        try session.beginPass()
        for number in numbers { try encode(number, options: EncodeOptions(forceKeyframe: forced.contains(number))) }
        let result = try session.endPass()
        try #require(outputs.failures.withLock { $0 } == [])
        return result
    }

    /// Makes all passes that are asked for.
    func makeAllPasses() throws -> [PassResult] {
        var results: [PassResult] = []
        repeat { results.append(try makePass()) } while results.last?.furtherPassesRequested == true
        return results
    }

    /// The mean SSIM of the silo's samples, decoded by libavcodec.
    func similarity() throws -> Double { try meanSimilarity(try silo.samples(), frameCount, picture) }
}

/// The mean SSIM of a decoded stream. Fails if a picture is missing or was concealed.
func meanSimilarity(
    _ samples: [SampleBuffer], _ frameCount: Int, _ picture: (Int) throws -> PixelBuffer
) throws -> Double {
    let decoded = try libavcodecPictures(samples)
    try #require(decoded.count == frameCount)
    var sum = 0.0
    for (number, image) in decoded.enumerated() { sum += try PictureQuality.ssim(image, picture(number)) }
    return sum / Double(frameCount)
}

/// A single pass at a bitrate at which it comes out at least as large as `size`, and hardly larger.
func singlePass(
    atLeast size: DataSize, from bitRate: BitRate, dimensions: VideoDimensions, frameCount: Int,
    _ picture: (Int) throws -> PixelBuffer
) throws -> (size: DataSize, similarity: Double) {
    var asked = bitRate
    for _ in 0..<12 {
        let encoder = try TestEncoder(.x264, dimensions, Recording.properties(asked))
        for number in 0..<frameCount {
            try encoder.session.encode(picture(number), presentationTime: frameTime(number))
        }
        encoder.session.completeFrames()
        let samples = encoder.takeOutputs().compactMap(\.frame?.sample)
        let made = DataSize(bytes: samples.reduce(0) { $0 + $1.data.count })
        if made >= size, made.bits <= size.bits * 1.03 {
            return (made, try meanSimilarity(samples, frameCount, picture))
        }
        asked = asked * (size.bits * 1.01 / max(made.bits, 1))
    }
    throw PassFixtureError.noSinglePassOfThatSize
}

enum PassFixtureError: Error {
    case noSinglePassOfThatSize
}

/// Returns true if keyframes that follow one another differ in their `idr_pic_id` (H.264 7.4.3).
func expectDistinctKeyframes(_ samples: [SampleBuffer]) throws {
    let first = try #require(samples.first)
    let inspector = try #require(SliceInspector(parameterSets: first.format.parameterSets))
    let ids = samples.map { inspector.inspect($0.data.contiguous())?.keyframeID }
    for (left, right) in zip(ids, ids.dropFirst()) where left != nil && right != nil { #expect(left != right) }
}
