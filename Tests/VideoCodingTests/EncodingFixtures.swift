import Foundation
import H264
import MediaCore
import NIOCore
import Testing

@testable import VideoCoding

/// A session with its outputs.
final class TestEncoder {
    let session: CompressionSession
    let outputs: EncodeOutputQueue

    init(
        _ backEnd: EncoderBackEnd, _ dimensions: VideoDimensions, _ properties: CompressionProperties,
        sourceAttributes: PixelBufferAttributes = .any
    ) throws {
        let outputs = EncodeOutputQueue()
        self.outputs = outputs
        session = try CompressionSession(
            dimensions: dimensions, backEnd: backEnd, properties: properties, sourceAttributes: sourceAttributes,
            outputHandler: outputs.append)
    }

    /// As most tests have it.
    convenience init(
        _ backEnd: EncoderBackEnd, _ dimensions: VideoDimensions, bitRate: BitRate = .megabits(1),
        profile: H264Profile = .constrainedBaseline, _ change: (inout CompressionProperties) -> Void = { _ in }
    ) throws {
        var properties = CompressionProperties(averageBitRate: bitRate, profileLevel: H264ProfileLevel(profile))
        change(&properties)
        try self.init(backEnd, dimensions, properties)
    }

    /// Encodes a picture as number `number` of 30 a second; the frame that came out, if one did.
    @discardableResult
    func encode(
        _ picture: PixelBuffer, _ number: Int, options: EncodeOptions = EncodeOptions()
    ) throws -> EncodedFrame? {
        try session.encode(picture, presentationTime: frameTime(number), options: options)
        return outputs.next()?.frame
    }

    /// Encodes pictures of a moving pattern, each of which comes out at once.
    func encode(
        _ pictures: Range<Int>, of pattern: MovingPattern, forcingKeyframes: Bool = false
    ) throws -> [EncodedFrame] {
        try pictures.map { number in
            let options = EncodeOptions(forceKeyframe: forcingKeyframes)
            return try #require(try encode(pattern.picture(number), number, options: options))
        }
    }

    /// All outputs that have not been taken.
    func takeOutputs() -> [EncodeOutput] {
        var taken: [EncodeOutput] = []
        while let output = outputs.next() { taken.append(output) }
        return taken
    }
}

/// A stream of a moving pattern.
func makeStream(
    _ backEnd: EncoderBackEnd, _ dimensions: VideoDimensions, frames: Int, profile: H264Profile = .constrainedBaseline,
    bitRate: BitRate = .megabits(1)
) throws -> [EncodedFrame] {
    try TestEncoder(backEnd, dimensions, bitRate: bitRate, profile: profile)
        .encode(0..<frames, of: MovingPattern(dimensions))
}

extension EncodedFrame {
    var nalUnits: [NALUnit] { get throws { try LengthPrefixed.nalUnits(in: sample.data.contiguous()) } }
}

extension [EncodedFrame] {
    var size: DataSize { reduce(DataSize.zero) { $0 + $1.size } }
}

/// The back ends that honour a property.
func backEnds(with property: CompressionProperty) -> [EncoderBackEnd] {
    backEnds.filter { CompressionSession.supportedProperties(of: $0)[property] != nil }
}

/// The back ends that honour a property with a word as its value.
func backEnds(with property: CompressionProperty, _ word: String) -> [EncoderBackEnd] {
    backEnds(with: property).filter { backEnd in
        guard case .choices(let words) = CompressionSession.supportedProperties(of: backEnd)[property]?.range else {
            return false
        }
        return words.contains(word)
    }
}

/// The back ends that know an option of a frame.
func backEnds(with option: EncodeOption) -> [EncoderBackEnd] {
    backEnds.filter { EncoderCapabilities.of($0).frameOptions.contains(option) }
}

/// The folder of real clips; nil if there is none.
let clipFolder = ProcessInfo.processInfo.environment["CONFRELAY_CONFORMANCE_DIR"]

/// The pictures of a real clip, forwards and backwards so that it can be played without end.
struct RealClip {
    let pictures: [PixelBuffer]

    init(_ name: String) throws {
        let folder = try #require(clipFolder)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: folder).appendingPathComponent(name))
        var reader = ElementaryStreamReader()
        reader.append(ByteBuffer(bytes: bytes))
        var samples: [SampleBuffer] = []
        while let sample = reader.nextSample() { samples.append(sample) }
        while let sample = reader.finish() { samples.append(sample) }
        pictures = try libavcodecPictures(samples)
        try #require(!pictures.isEmpty)
    }

    var dimensions: VideoDimensions { pictures[0].dimensions }

    func picture(_ number: Int) -> PixelBuffer {
        let period = max(1, 2 * pictures.count - 2)
        let position = number % period
        return pictures[position < pictures.count ? position : period - position]
    }
}
