import MediaCore

/// The time from the last packet of a sender's frame to the last packet of the first composed frame that shows it.
struct LatencyMeter {
    private let sent: [FrameMark: [MonotonicInstant]]
    /// The frame that each tile showed last, and the latencies of all that it showed.
    private var shown: [Int: FrameMark] = [:]
    private(set) var latencies: [Int: [Duration]] = [:]

    /// A clip repeats after some seconds: a frame that was sent longer ago than this was not this frame.
    private static let longest = Duration.seconds(3)

    /// - Parameter sent: The times at which each frame was sent, in order.
    init(sent: [FrameMark: [MonotonicInstant]]) {
        self.sent = sent
    }

    /// A composed frame shows `frame` in a tile; its last packet came at `time`.
    ///
    /// - Parameter isCounted: False before and after the measurement.
    mutating func showed(_ frame: FrameMark, in tile: Int, at time: MonotonicInstant, isCounted: Bool) {
        guard shown.updateValue(frame, forKey: tile) != frame, isCounted,
            let latest = sent[frame]?.last(where: { $0 <= time }), time - latest < Self.longest
        else { return }
        latencies[tile, default: []].append(time - latest)
    }

    /// A quantile in milliseconds: the least latency that this share of the frames does not exceed; nil without frames.
    ///
    /// - Parameter tile: The only tile that counts; nil for all.
    func quantile(_ share: Double, of tile: Int? = nil) -> Double? {
        let counted = (tile.map { latencies[$0] ?? [] } ?? latencies.values.flatMap(\.self)).sorted()
        guard !counted.isEmpty else { return nil }
        let rank = Int((Double(counted.count) * share).rounded(.up))
        return counted[min(max(rank, 1), counted.count) - 1].milliseconds
    }
}
