import Compositing
import MediaCore
import PixelTransfer
import VideoCoding

/// The figures of one viewer, computed after the measurement from the frames in the log.
struct ViewerAnalysis {
    /// Bits of H.264 a second, without the packets' headers; in thousands.
    var kilobitsPerSecond = 0.0
    /// The quantiles of the latency; nil if no mark could be read.
    var medianLatencyMilliseconds: Double?
    var p95LatencyMilliseconds: Double?
    /// The latencies of the first tile alone: where nobody speaks, the relay's ticks follow it.
    var firstMedianLatencyMilliseconds: Double?
    var firstP95LatencyMilliseconds: Double?
    /// Of luma over all the tiles that were compared with the pictures that were sent: in dB, at most 100, and from 0
    /// to 1. Nil if none was.
    var peakSignalToNoiseRatio: Double?
    var structuralSimilarity: Double?
    /// The share of tiles whose marks could be read; nil if no picture was decoded.
    var readableTileShare: Double?

    /// That of pictures without a difference, in dB, since JSON has no infinity.
    private static let highestRatio = 100.0
    /// Composed pictures whose tiles are compared.
    private static let comparedCount = 40

    /// - Parameters:
    ///   - clips: The senders' clips.
    ///   - tileCount: The tiles of the grid that the viewer sees.
    ///   - interval: The time of the measurement.
    init(
        of log: FrameLog, clips: [TestClip], tileCount: Int, interval: ClosedRange<MonotonicInstant>
    ) throws {
        let received = log.received
        let counted = received.filter { interval.contains($0.time) }
        let seconds = (interval.upperBound - interval.lowerBound).seconds
        kilobitsPerSecond = Double(counted.reduce(0) { $0 + $1.sample.data.count }) * 8 / 1000 / max(seconds, 1e-9)
        var latency = LatencyMeter(sent: log.sent)
        let whole = GridLayout.cells(count: tileCount, canvas: Workload.canvas).first?.dimensions
        var quality = TileQuality(shown: whole ?? Workload.canvas)
        let step = max(1, counted.count / Self.comparedCount)
        var (pictures, tiles, readable) = (0, 0, 0)
        try Self.decode(received.drop { !$0.sample.isSync }) { picture, time in
            let isCounted = interval.contains(time)
            let cells = GridLayout.cells(count: tileCount, canvas: picture.dimensions)
            for (index, cell) in cells.enumerated() {
                let mark = FrameMark(in: picture, tile: cell)
                if isCounted {
                    tiles += 1
                    readable += mark == nil ? 0 : 1
                }
                guard let mark, mark.sender < clips.count else { continue }
                latency.showed(mark, in: index, at: time, isCounted: isCounted)
                if isCounted, pictures.isMultiple(of: step) { quality.add(picture, tile: cell, shows: mark) }
            }
            if isCounted { pictures += 1 }
        }
        if pictures > 0, tiles > 0 { readableTileShare = Double(readable) / Double(tiles) }
        medianLatencyMilliseconds = latency.quantile(0.5)
        p95LatencyMilliseconds = latency.quantile(0.95)
        firstMedianLatencyMilliseconds = latency.quantile(0.5, of: 0)
        firstP95LatencyMilliseconds = latency.quantile(0.95, of: 0)
        if let result = try quality.compare(with: clips) {
            (peakSignalToNoiseRatio, structuralSimilarity) = (
                min(result.error.psnr.y, Self.highestRatio), result.similarity
            )
        }
    }

    /// Decodes frames that begin with a keyframe.
    private static func decode(
        _ frames: some Sequence<FrameLog.Received>,
        _ body: (_ picture: PixelBuffer, _ time: MonotonicInstant) throws -> Void
    ) throws {
        let decoder = DecodingPipeline()
        for frame in frames {
            var picture: PixelBuffer?
            decoder.decode(frame.sample) { event in
                if case .output(let output) = event { picture = output.picture?.pixelBuffer }
            }
            if let picture { try body(picture, frame.time) }
        }
    }
}
