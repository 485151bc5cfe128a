import PixelTransfer

/// The result of one receiver. Fields are added, never renamed or given another unit.
struct QualityReceiver: Codable, Sendable {
    var network: String
    /// The average rate of the network, headers included.
    var capacityKilobits: Double
    /// The received rate of pictures, headers not included.
    var receivedKilobits: Double
    var framesPerSecond: Double
    /// In milliseconds, from the composition to the last packet.
    var delay95: Double
    /// The longest time without a frame, in milliseconds.
    var longestGap: Double
    var keyframes: UInt64
    /// The number of times that its frames began to come from another encoder.
    var groupChanges: UInt64
    /// Frames left out for this receiver alone.
    var framesLayerDropped: UInt64
    /// The mean height of the pictures that came.
    var height: Double
    /// The mean similarity of the seen pictures to the composed ones.
    var ssim: Double
}

/// The cost and the result of one way. Fields are added, never renamed or given another unit.
struct QualityResult: Codable, Sendable {
    var way: QualityWay
    /// At work at a tick, on average.
    var encoders: Double
    /// Processor seconds a second of encoding, and of composing in further sizes than one, as if the machine had always
    /// been as fast as in the first way.
    var encodingCores: Double
    var composingCores: Double
    /// The measured time.
    var seconds: Double
    var receivers: [QualityReceiver]
    /// True if it takes no more processor time than few encoders for all.
    var isAffordable = true

    var cores: Double { encodingCores + composingCores }
    var meanSSIM: Double { mean(\.ssim) }
    /// The mean of the receivers' qualities, in dB: equal steps look about equal.
    var meanDecibels: Double { mean { PictureQuality.decibels(ssim: $0.ssim) } }
    var leastSSIM: Double { receivers.map(\.ssim).min() ?? 0 }
    /// The part of the networks' rate that arrived as pictures.
    var meanShare: Double { mean { $0.receivedKilobits / max($0.capacityKilobits, 1) } }
    var meanFrameRate: Double { mean(\.framesPerSecond) }
    var worstDelay95: Double { receivers.map(\.delay95).max() ?? 0 }

    private func mean(_ value: (QualityReceiver) -> Double) -> Double {
        receivers.isEmpty ? 0 : receivers.reduce(0) { $0 + value($1) } / Double(receivers.count)
    }
}

/// The output of `--json`.
struct QualityReport: Codable, Sendable {
    /// The version of this form.
    var version = 1
    var machine: BenchmarkReport.Machine
    var results: [QualityResult] = []

    /// The tables for people: the ways, and the result of each receiver.
    var text: String {
        [ways, receivers].map { ResultTable.aligned($0).joined(separator: "\n") }.joined(separator: "\n\n")
    }

    private var ways: [[String]] {
        let columns = [
            "way", "encoders", "cores", "fits", "SSIM", "SSIM dB", "least SSIM", "rate used", "fps", "p95 ms at most",
        ]
        return [columns]
            + results.map { result in
                [
                    result.way.name, ResultTable.number(result.encoders, 1), ResultTable.number(result.cores, 2),
                    result.isAffordable ? "yes" : "no", ResultTable.number(result.meanSSIM, 4),
                    ResultTable.number(result.meanDecibels, 2), ResultTable.number(result.leastSSIM, 4),
                    ResultTable.percent(result.meanShare), ResultTable.number(result.meanFrameRate, 1),
                    ResultTable.number(result.worstDelay95, 0),
                ]
            }
    }

    /// For each receiver and way the quality, and the rate of pictures.
    private var receivers: [[String]] {
        guard let first = results.first else { return [] }
        // Size, rate and quality.
        let rows = first.receivers.indices.map { index in
            [first.receivers[index].network]
                + results.map { result in
                    let receiver = result.receivers[index]
                    let rate = ResultTable.number(receiver.receivedKilobits, 0)
                    return
                        "\(ResultTable.number(receiver.height, 0))p \(rate) \(ResultTable.number(receiver.ssim, 4))"
                }
        }
        return [["network"] + results.map { "\($0.way.name): kbit/s, SSIM" }] + rows
    }
}
