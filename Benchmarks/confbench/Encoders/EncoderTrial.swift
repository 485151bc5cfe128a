import Foundation
import MediaCore
import PixelTransfer
import VideoCoding

/// One encoder with a decoder behind it.
final class EncoderTrial {
    let variant: EncoderVariant
    private(set) var sizes: [DataSize] = []
    private(set) var largestDeltaFrame = DataSize.zero
    private(set) var keyframes = 0
    private(set) var framesDropped = 0
    private(set) var similarity = Mean()
    private(set) var error = SquaredError()

    private let session: CompressionSession
    private let outputs = EncodeOutputQueue()
    private let pipeline = DecodingPipeline()
    private var work = FloorCost.Stage()
    private var shown: PixelBuffer?

    /// Frames until the encoder has settled, whose cost does not count.
    private static let warmUp = 5

    init(_ variant: EncoderVariant, at rate: BitRate) throws {
        self.variant = variant
        session = try variant.session(at: rate, outputs.append)
        try session.prepareToEncodeFrames()
    }

    /// Processor time of a frame, in milliseconds.
    var millisecondsEach: Double { work.secondsEach * 1000 }

    /// The processor time so far. A device's calls are made on a thread of their own; nothing else runs meanwhile.
    private var processorTime: Duration { variant.device == nil ? ThreadClock.now() : AllThreadsClock.now() }

    func setRate(_ rate: BitRate) throws {
        try session.set(\.averageBitRate, to: rate)
    }

    /// Encodes a picture and, if it will be compared, decodes it.
    func encode(_ picture: PixelBuffer, number: Int, isDecoded: Bool) throws {
        let time = MediaTime(value: Int64(number), timescale: Int32(Workload.frameRate))
        let began = processorTime
        try session.encode(picture, presentationTime: time)
        let spent = processorTime - began
        if number >= Self.warmUp { work.add(spent, count: 1) }
        guard let output = outputs.next() else {
            throw BenchmarkError.codecFailed(reason: "\(variant.name) does not answer in real time")
        }
        switch output.result {
        case .frame(let frame):
            sizes.append(frame.size)
            if frame.isKeyframe {
                keyframes += 1
            } else {
                largestDeltaFrame = max(largestDeltaFrame, frame.size)
            }
            if isDecoded { try decode(frame.sample) }
        case .dropped:
            sizes.append(.zero)
            framesDropped += 1
        case .failed(let error): throw error
        }
    }

    private func decode(_ sample: SampleBuffer) throws {
        var picture: PixelBuffer?
        pipeline.decode(sample) { event in
            if case .output(let output) = event { picture = output.picture?.pixelBuffer }
        }
        guard let picture else {
            throw BenchmarkError.codecFailed(reason: "a frame of \(variant.name) does not decode")
        }
        shown = picture
    }

    /// Compares the picture that is shown now with the original. In place of a frame that was left out, the frame
    /// before it is shown.
    func compare(with original: PixelBuffer) throws {
        guard let shown else { return }
        similarity.add(try PictureQuality.ssim(shown, original))
        error += try PictureQuality.squaredError(shown, original)
    }
}

/// The mean of values that come one by one.
struct Mean {
    private var sum = 0.0
    private var count = 0

    mutating func add(_ value: Double) {
        sum += value
        count += 1
    }

    /// The mean; zero without values.
    var value: Double { count > 0 ? sum / Double(count) : 0 }
}
