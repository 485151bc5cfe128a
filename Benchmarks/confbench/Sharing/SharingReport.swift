import ConferenceClient
import Foundation
import MediaCore

/// The results of `confbench sharing`.
struct SharingReport: Codable, Sendable {
    /// The result of a receiver in one of the two runs.
    struct Figures: Codable, Hashable, Sendable {
        /// The rate of video after the warm-up.
        var bitsPerSecond: Double
        var framesPerSecond: Double
        /// The delay from the camera to the receiver, over the whole run; nil if no counter could be read.
        var p95DelaySeconds: Double?
        var longestGapSeconds: Double

        init(_ report: ClientReport, warmUp: Int) {
            var (bits, frames, time) = (0.0, 0, 0.0)
            // A sample is of the time since the one before; the last of them is shorter than the others.
            for (previous, sample) in zip(report.samples, report.samples.dropFirst())
            where previous.seconds >= Double(warmUp) {
                bits += sample.receivedVideoBitsPerSecond * (sample.seconds - previous.seconds)
                frames += sample.receivedFrames
                time += sample.seconds - previous.seconds
            }
            bitsPerSecond = bits / max(time, 1)
            framesPerSecond = Double(frames) / max(time, 1)
            p95DelaySeconds = report.delay.p95Seconds
            longestGapSeconds = report.receivedVideo.longestGapSeconds
        }
    }

    struct Receiver: Codable, Sendable {
        var network: String
        var capacityBitsPerSecond: Int64
        var dedicated: Figures
        var shared: Figures

        /// The rate with few encoders as a part of that with one each.
        var rateShare: Double { shared.bitsPerSecond / max(1, dedicated.bitsPerSecond) }
    }

    /// The relay's work in one of the runs.
    struct Relay: Codable, Sendable {
        var mostEncoders: Int
        var keyframeShare: Double
        var missedTickShare: Double

        init(_ outcome: SharingRoom.Outcome) {
            mostEncoders = outcome.mostEncoders
            keyframeShare = outcome.keyframeShare
            missedTickShare = outcome.missedTickShare
        }
    }

    /// The version of this form.
    var version = 1
    var machine = BenchmarkReport.Machine.current()
    var receivers: [Receiver]
    var dedicated: Relay
    var shared: Relay

    init(
        networks: [SharingNetwork], dedicated: SharingRoom.Outcome, shared: SharingRoom.Outcome, warmUp: Int
    ) {
        self.dedicated = Relay(dedicated)
        self.shared = Relay(shared)
        receivers = networks.indices.map { index in
            Receiver(
                network: networks[index].name, capacityBitsPerSecond: networks[index].capacity.bitsPerSecond,
                dedicated: Figures(dedicated.reports[index], warmUp: warmUp),
                shared: Figures(shared.reports[index], warmUp: warmUp))
        }
    }

    var text: String {
        func milliseconds(_ seconds: Double?) -> String { seconds.map { ResultTable.number($0 * 1000, 0) } ?? "-" }
        let columns = [
            "network", "carries kbit/s", "each kbit/s", "shared", "of it", "each fps", "shared", "each p95 ms",
            "shared",
            "each gap ms", "shared",
        ]
        let rows = receivers.map { receiver in
            [
                receiver.network, ResultTable.number(Double(receiver.capacityBitsPerSecond) / 1000, 0),
                ResultTable.number(receiver.dedicated.bitsPerSecond / 1000, 0),
                ResultTable.number(receiver.shared.bitsPerSecond / 1000, 0), ResultTable.percent(receiver.rateShare),
                ResultTable.number(receiver.dedicated.framesPerSecond, 1),
                ResultTable.number(receiver.shared.framesPerSecond, 1),
                milliseconds(receiver.dedicated.p95DelaySeconds), milliseconds(receiver.shared.p95DelaySeconds),
                milliseconds(receiver.dedicated.longestGapSeconds), milliseconds(receiver.shared.longestGapSeconds),
            ]
        }
        let shares = receivers.map(\.rateShare)
        let mean = shares.reduce(0, +) / Double(max(1, shares.count))
        let behind = shares.count { $0 < 0.85 }
        let summary =
            "of an encoder each: mean \(ResultTable.percent(mean)), least \(ResultTable.percent(shares.min() ?? 0)), "
            + "\(behind) of \(shares.count) below 85 %\n"
            + [("each", dedicated), ("shared", shared)].map { name, relay in
                "\(name): \(relay.mostEncoders) encoders at most, "
                    + "keyframes \(ResultTable.percent(relay.keyframeShare)) of the bits, "
                    + "\(ResultTable.percent(relay.missedTickShare)) of the ticks missed"
            }.joined(separator: "\n")
        return ResultTable.aligned([columns] + rows).joined(separator: "\n") + "\n\n" + summary
    }
}
