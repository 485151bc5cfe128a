import Foundation
import LinkEmulation
import MediaCore
import SDP
import SecureTransport
import Simulation
import Testing

@testable import Conference

/// The file to which the table of docs/loss-repair.md is written; nil if it is not wanted.
private let tablePath = ProcessInfo.processInfo.environment["CONFRELAY_LOSS_TABLE"]

/// The results of each kind of repair, as a table.
@Suite(.enabled(if: tablePath != nil, "CONFRELAY_LOSS_TABLE names no file")) struct LossRepairTableTests {
    private static let repairs: [(name: String, adjust: @Sendable (inout OfferParameters) -> Void)] = [
        (
            "keyframes",
            {
                $0.video?.feedback.nack = false
                $0.video?.flexFECPayloadType = nil
                $0.video?.feedback.rpsi = false
            }
        ),
        (
            "long-term references",
            {
                $0.video?.feedback.nack = false
                $0.video?.flexFECPayloadType = nil
            }
        ),
        (
            "RTX, keyframes",
            {
                $0.video?.flexFECPayloadType = nil
                $0.video?.feedback.rpsi = false
            }
        ),
        ("RTX, long-term references", { $0.video?.flexFECPayloadType = nil }),
        ("RTX, FEC, keyframes", { $0.video?.feedback.rpsi = false }),
        ("all", { _ in }),
    ]

    @Test("each repair at each loss and round trip")
    func table() throws {
        let (warmUp, length) = (Duration.seconds(5), Duration.seconds(30))
        var rows = [
            "| loss, round trip | repair | pictures shown | freezes a minute | frozen | keyframes, refreshes "
                + "| bytes of each | their qp | sent |",
            "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
        ]
        for roundTrip in [30, 150] {
            for loss in [1, 5, 10] {
                for repair in Self.repairs {
                    let lossy = try LossyCall(
                        roundTrip: .milliseconds(Int64(roundTrip)), loss: .bernoulli(Double(loss) / 100),
                        adjust: repair.adjust)
                    lossy.call.run(for: warmUp)
                    let (begin, frames, before) = (lossy.call.now, lossy.encoded.count, try lossy.downlink())
                    let received = lossy.watchers[0].bytesReceived
                    lossy.call.run(for: length)
                    let after = try lossy.downlink()
                    let arrivals = lossy.watchers[0].arrivals.filter { $0 >= begin }
                    // As the freezes of WebRTC's statistics: three intervals, and 150 ms more than one.
                    let gaps = zip(arrivals, arrivals.dropFirst()).map { $1 - $0 }.filter { $0 > .milliseconds(217) }
                    let repairs = lossy.repairs(since: frames)
                    let frozen = gaps.reduce(Duration.zero, +) / length * 100
                    let rate = Double(lossy.watchers[0].bytesReceived - received) * 8 / 1000 / length.seconds
                    let quality =
                        repairs.count == 0 ? "" : "\(Int(repairs.bytes)) | \(Int(repairs.qp.rounded()))"
                    rows.append(
                        "| \(loss) %, \(roundTrip) ms | \(repair.name) "
                            + "| \(arrivals.count) of \(lossy.encoded.count - frames) "
                            + "| \(gaps.count * 2) | \(Int(frozen.rounded())) % "
                            + "| \(after.keyframes - before.keyframes), "
                            + "\(after.recovery.refreshes - before.recovery.refreshes) "
                            + "| \(quality.isEmpty ? "| " : quality) | \(Int(rate.rounded())) kbit/s |")
                }
            }
        }
        let path = try #require(tablePath)
        try (rows.joined(separator: "\n") + "\n").write(toFile: path, atomically: true, encoding: .utf8)
    }
}
