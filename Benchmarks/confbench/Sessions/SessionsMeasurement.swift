import MediaCore
import Synchronization
import VideoCoding

/// The comparisons of sessions with the codecs that they are made of.
struct SessionsMeasurement {
    private let canvasPictures: [PixelBuffer]
    private let sourcePictures: [PixelBuffer]

    private static let pictureCount = 60
    private static let decodedRate = BitRate.megabits(1.5)
    private static let clipLength = 150
    /// The session's quality for the quantisation parameter 28.
    private static let quality = 23.0 / 41
    private static let qp = 28

    init(in directory: ScratchDirectory) throws {
        let content = try EncoderContent.composed(frames: Self.pictureCount, in: directory)
        canvasPictures = try (0..<Self.pictureCount).map(content.picture)
        let scene = TalkerScene(seed: 1, dimensions: Workload.sourceDimensions, isTalking: true)
        sourcePictures = (0..<Self.pictureCount).map(scene.picture)
    }

    /// Makes and runs one comparison after the other.
    var comparisons: [() throws -> SessionComparison] {
        [
            { try decoding(sourcePictures, at: Workload.sourceBitRate) },
            { try decoding(canvasPictures, at: Self.decodedRate) },
            { try encoding(sourcePictures, at: nil) },
            { try encoding(canvasPictures, at: nil) },
            { try encoding(canvasPictures, at: Self.decodedRate) },
        ]
    }

    /// Pictures to and fro, without a cut.
    private static func picture(_ number: Int, of pictures: [PixelBuffer]) -> PixelBuffer {
        let turn = 2 * (pictures.count - 1)
        let position = number % turn
        return pictures[position < pictures.count ? position : turn - position]
    }

    private static func time(_ number: Int) -> MediaTime {
        MediaTime(value: Int64(number), timescale: Int32(Workload.frameRate))
    }

    // MARK: - Decoding

    private func decoding(_ pictures: [PixelBuffer], at rate: BitRate) throws -> SessionComparison {
        let samples = try clip(pictures, at: rate)
        guard let format = samples.first?.format else {
            throw BenchmarkError.codecFailed(reason: "there is nothing to decode")
        }
        func sample(_ number: Int) -> SampleBuffer { samples[number % samples.count] }
        let bare = try BareDecoder(samples: samples)
        let shown = Tally()
        let session = try DecompressionSession(format: format) { output in shown.add(output.picture == nil ? 0 : 1) }
        let pipeline = DecodingPipeline()
        let piped = Tally()
        return SessionComparison(
            work: "decode \(format.dimensions), \(rate)",
            contenders: [
                SessionContender(name: "libavcodec", frame: bare.decode, product: { bare.pictures }),
                SessionContender(
                    name: "DecompressionSession", frame: { session.decode(sample($0)) }, product: { shown.sum }),
                SessionContender(
                    name: "DecodingPipeline",
                    frame: { number in
                        pipeline.decode(sample(number)) { event in
                            if case .output(let output) = event { piped.add(output.picture == nil ? 0 : 1) }
                        }
                    }, product: { piped.sum }),
            ])
    }

    /// A clip that begins with its only keyframe.
    private func clip(_ pictures: [PixelBuffer], at rate: BitRate) throws -> [SampleBuffer] {
        let outputs = EncodeOutputQueue()
        let session = try CompressionSession(
            dimensions: pictures[0].dimensions,
            properties: CompressionProperties(averageBitRate: rate, profileLevel: H264ProfileLevel(.high)),
            outputHandler: outputs.append)
        var samples: [SampleBuffer] = []
        for number in 0..<Self.clipLength {
            try session.encode(Self.picture(number, of: pictures), presentationTime: Self.time(number))
            if let frame = outputs.next()?.frame { samples.append(frame.sample) }
        }
        return samples
    }

    // MARK: - Encoding

    /// - Parameter rate: The rate control's target; nil for a constant quantisation parameter.
    private func encoding(_ pictures: [PixelBuffer], at rate: BitRate?) throws -> SessionComparison {
        let dimensions = pictures[0].dimensions
        // With a constant QP the rate is one that is never reached.
        var properties = CompressionProperties(
            averageBitRate: rate ?? .megabits(15), profileLevel: H264ProfileLevel(.high))
        if rate == nil {
            properties.rateControlMode = .quality
            properties.quality = Self.quality
        }
        let size = Tally()
        let failure = FirstFailure()
        let session = try CompressionSession(dimensions: dimensions, properties: properties) { output in
            switch output.result {
            case .frame(let frame): if !frame.isKeyframe { size.add(frame.size.bytes) }
            case .dropped: break
            case .failed(let error): failure.record(error)
            }
        }
        let bare = try BareEncoder(
            dimensions: dimensions, properties: session.properties, qp: Self.qp)
        let setting = rate.map { "\($0)" } ?? "QP \(Self.qp)"
        return SessionComparison(
            work: "encode \(dimensions), \(setting)", isExact: rate == nil,
            contenders: [
                SessionContender(
                    name: "OpenH264",
                    frame: { number in
                        try bare.encode(
                            Self.picture(number, of: pictures), milliseconds: Int64(number * 1000 / Workload.frameRate))
                    }, product: { bare.bytes }),
                SessionContender(
                    name: "CompressionSession",
                    frame: { number in
                        try session.encode(Self.picture(number, of: pictures), presentationTime: Self.time(number))
                        try failure.check()
                    }, product: { size.sum }),
            ])
    }
}

/// A sum that output handlers add to.
private final class Tally: Sendable {
    private let total = Atomic(0)

    func add(_ value: Int) { total.add(value, ordering: .relaxed) }

    var sum: Int { total.load(ordering: .relaxed) }
}

/// Keeps the first error in an output handler.
private final class FirstFailure: Sendable {
    private let error = Mutex<VideoCodingError?>(nil)

    func record(_ new: VideoCodingError) {
        error.withLock { $0 = $0 ?? new }
    }

    func check() throws {
        if let error = error.withLock({ $0 }) { throw error }
    }
}
