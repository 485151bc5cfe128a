import Conference
import EncoderSharing
import MediaCore
import VideoCoding

/// A model of an encoder: its frames have the sizes that a real encoder would produce, but no content.
///
/// Its mean rate is the target, within the range of QPs that the content allows. A keyframe takes the bits of several
/// frames, within its bound, and later frames save these bits, as in OpenH264. Temporal layers have the same shares of
/// the bits as in OpenH264.
///
/// Each frame carries the time of its picture, so that a receiver can compute the delay.
final class ModelledEncoder: PictureEncoding {
    /// The range of QPs.
    private static let qps = (least: 16.0, most: 51.0)
    /// The part of the excess that the next frame saves.
    private static let repayment = 0.08
    /// The smallest part of its share that a frame takes while it saves bits.
    private static let leastPart = 0.5
    /// The ratio of a frame's size in each temporal layer to the mean: measured with OpenH264, at 300 to 2500 kbit/s.
    private static let layerFactors = [1: [1.0], 2: [1.2, 0.8], 3: [1.44, 1.24, 0.66]]

    let dimensions: VideoDimensions
    private let content: SimulatedContent
    private let format: VideoFormatDescription
    private var properties: CompressionProperties
    private var random: SeededGenerator
    private var count = 0
    /// The bytes spent beyond the rate.
    private var owed = 0.0

    init(
        dimensions: VideoDimensions, properties: CompressionProperties, content: SimulatedContent, seed: UInt64
    ) throws(VideoCodingError) {
        self.dimensions = dimensions
        self.properties = properties
        self.content = content
        random = SeededGenerator(seed: seed)
        format = try .modelled(dimensions, properties: properties)
    }

    func setProperties(_ change: (inout CompressionProperties) -> Void) throws(VideoCodingError) {
        change(&properties)
    }

    func encode(
        _ picture: PixelBuffer, presentationTime: MediaTime, options: EncodeOptions
    ) throws(VideoCodingError) -> EncodedFrame? {
        let isKeyframe = options.forceKeyframe || count == 0
        count = isKeyframe ? 1 : count + 1
        let dependency = dependency(isKeyframe: isKeyframe)
        let layer = dependency.temporalLayer ?? 0
        let frameRate = max(1, properties.expectedFrameRate)
        let rung = EncodeRung(dimensions: dimensions, frameRate: Int(frameRate))
        let share = share(at: rung, frameRate: frameRate)
        let noise = max(0.3, 1 + content.noise * (Double.random(in: -1.7...1.7, using: &random)))
        var even = max(share * Self.leastPart, share - owed * Self.repayment)
        var factor = 1.0
        if isKeyframe {
            even = share * content.keyframeFactor
        } else {
            factor = Self.layerFactors[properties.temporalLayers]?[layer] ?? 1
        }
        var bytes = even * factor * noise
        if let limit = properties.maxFrameBytes { bytes = min(bytes, Double(limit.bytes)) }
        owed = max(-share * 5, owed + bytes - share * factor)
        var statistics = EncodeStatistics(
            type: isKeyframe ? .idr : .p, size: DataSize(bytes: max(bytes, Double(FrameStamp.leastSize))),
            temporalLayer: layer, isReference: dependency.isDependedOn ?? true)
        let rate = BitRate(bitsPerSecond: bytes / factor / (isKeyframe ? content.keyframeFactor : 1) * 8 * frameRate)
        let qp = content.cost.qp(at: rung, rate: rate)
        statistics.averageQP = Int(min(max(qp, 10), 51).rounded())
        let data = FrameStamp.frame(statistics, time: presentationTime)
        let sample = SampleBuffer(
            data: BlockBuffer(data), format: format, presentationTime: presentationTime, isSync: isKeyframe,
            dependency: dependency)
        return EncodedFrame(sample: sample, statistics: statistics)
    }

    /// Returns the frame's place in the hierarchy. Each layer has as many frames as all layers below it.
    private func dependency(isKeyframe: Bool) -> FrameDependency {
        let layers = properties.temporalLayers
        let step = isKeyframe ? 0 : (count - 1) & ((1 << (layers - 1)) - 1)
        let layer = step == 0 ? 0 : layers - 1 - step.trailingZeroBitCount
        return FrameDependency(isDependedOn: layer == 0 || layer < layers - 1, temporalLayer: layer)
    }

    /// Returns the mean size of a frame.
    private func share(at rung: EncodeRung, frameRate: Double) -> Double {
        let rate = properties.averageBitRate
        let qp = content.cost.qp(at: rung, rate: rate)
        let clamped = min(max(qp, Self.qps.least), Self.qps.most)
        // Six QP steps halve the bits.
        var factor = 1.0
        var steps = qp - clamped
        while steps >= 1 {
            factor *= 1.122_462
            steps -= 1
        }
        while steps <= -1 {
            factor /= 1.122_462
            steps += 1
        }
        return Double(rate.bitsPerSecond) / 8 / frameRate * factor
    }
}
