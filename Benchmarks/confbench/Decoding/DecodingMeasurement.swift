import MediaCore
import PixelTransfer
import VideoCoding

/// The content of the streams.
enum DecodingContent: String, CaseIterable {
    case talker = "talker, 700 kbit/s"
    case talkerAtALowRate = "talker, 250 kbit/s"
    case motion = "motion, 1.2 Mbit/s"

    var bitRate: BitRate {
        switch self {
        case .talker: .kilobits(700)
        case .talkerAtALowRate: .kilobits(250)
        case .motion: .kilobits(1200)
        }
    }

    func makePictures(_ dimensions: VideoDimensions) -> (Int) -> PixelBuffer {
        switch self {
        case .talker, .talkerAtALowRate:
            TalkerScene(seed: 3, dimensions: dimensions, isTalking: true).picture
        case .motion: MovingScene(dimensions: dimensions).picture
        }
    }
}

/// One stream, decoded with one effort after the other.
struct DecodingMeasurement {
    private static let size = VideoDimensions(width: 640, height: 360)
    private static let efforts: [(String, DecodingEffort)] = [
        ("full", .full),
        ("filtered references", DecodingEffort(loopFilter: .references)),
        ("no loop filter", DecodingEffort(loopFilter: .none)),
        ("and references only", DecodingEffort(frames: .references, loopFilter: .none)),
    ]
    private static let tiles = [(2, "1/2"), (4, "1/4")]

    private let content: DecodingContent
    private var samples: [SampleBuffer] = []

    init(_ content: DecodingContent, frames: Int) throws {
        self.content = content
        let picture = content.makePictures(Self.size)
        let outputs = EncodeOutputQueue()
        do throws(VideoCodingError) {
            var properties = CompressionProperties(averageBitRate: content.bitRate, expectedFrameRate: 30)
            properties.temporalLayers = 2
            let session = try CompressionSession(
                dimensions: Self.size, properties: properties, outputHandler: outputs.append)
            for number in 0..<frames {
                try session.encode(picture(number), presentationTime: MediaTime(value: Int64(number), timescale: 30))
                if let frame = outputs.next()?.frame { samples.append(frame.sample) }
            }
        } catch {
            throw BenchmarkError.codecFailed(reason: error.description)
        }
    }

    func run(rounds: Int) throws -> [DecodingResult] {
        var times = Self.efforts.map { _ in Duration.zero }
        for _ in 0..<rounds {
            let pipelines = Self.efforts.map { effort in
                let pipeline = DecodingPipeline()
                pipeline.effort = effort.1
                return pipeline
            }
            // In turns, so that other load on the machine affects all alike.
            for start in stride(from: 0, to: samples.count, by: 10) {
                for (index, pipeline) in pipelines.enumerated() {
                    let before = ThreadClock.now()
                    for sample in samples[start..<min(start + 10, samples.count)] { pipeline.decode(sample) { _ in } }
                    times[index] += ThreadClock.now() - before
                }
            }
        }
        let seconds = Double(samples.count) / 30
        let rate = Double(samples.reduce(0) { $0 + $1.data.count }) * 8 / 1000 / seconds
        var results: [DecodingResult] = []
        for (index, effort) in Self.efforts.enumerated() {
            for tile in Self.tiles {
                var result = DecodingResult(
                    content: content.rawValue, effort: effort.0, tile: tile.1, kilobitsPerSecond: rate,
                    processorMilliseconds: times[index].seconds * 1000 / Double(max(1, rounds * samples.count)),
                    ratio: times[index] / times[0])
                try measureQuality(effort.1, divisor: tile.0, into: &result)
                results.append(result)
            }
        }
        return results
    }

    private func measureQuality(
        _ effort: DecodingEffort, divisor: Int, into result: inout DecodingResult
    ) throws {
        let tile = PixelTransferSession(
            destination: PixelBufferAttributes(
                dimensions: VideoDimensions(
                    width: Self.size.width / divisor / 2 * 2, height: Self.size.height / divisor / 2 * 2)))
        let (full, spared) = (DecodingPipeline(), DecodingPipeline())
        spared.effort = effort
        var ratios: [Double] = []
        for sample in samples {
            guard let expected = Self.picture(of: sample, by: full), let made = Self.picture(of: sample, by: spared)
            else { continue }
            do {
                ratios.append(try PictureQuality.psnr(tile.transfer(made), tile.transfer(expected)).y)
            } catch {
                throw BenchmarkError.codecFailed(reason: "\(error)")
            }
        }
        // Pictures that are equal have no ratio.
        func mean(_ ratios: ArraySlice<Double>) -> Double? {
            let finite = ratios.filter(\.isFinite)
            return finite.isEmpty ? nil : finite.reduce(0, +) / Double(finite.count)
        }
        result.meanPSNR = mean(ratios[...])
        result.lastPSNR = mean(ratios.suffix(30))
        result.leastPSNR = ratios.min().flatMap { $0.isFinite ? $0 : nil }
    }

    private static func picture(of sample: SampleBuffer, by pipeline: DecodingPipeline) -> PixelBuffer? {
        var picture: PixelBuffer?
        pipeline.decode(sample) { event in
            if case .output(let output) = event, let decoded = output.picture { picture = decoded.pixelBuffer }
        }
        return picture
    }
}
