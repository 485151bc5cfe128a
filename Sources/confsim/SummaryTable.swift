import Foundation
import MediaCore
import NetworkSimulation

/// The summaries as a table for people, and below it how the flow answered the steps of a scripted rate.
struct SummaryTable {
    var runs: [SimulatedRun]

    var text: String {
        let columns = [
            "link", "goodput kbit/s", "utilisation %", "queue p50 ms", "p95 ms", "loss %", "frame p50 ms", "p95 ms",
            "late or lost %", "frozen %", "ramp s", "recovery %", "padding %",
        ]
        var lines = Self.aligned([columns] + runs.map(row))
        let steps = runs.flatMap { run in run.report.stepResponses.map { stepRow($0) } }
        if !steps.isEmpty {
            let columns = ["step at s", "kbit/s", "settled s", "queue < 100 ms s", "to 80 % s", "queue max ms"]
            lines += [""] + Self.aligned([columns] + steps)
        }
        return lines.joined(separator: "\n")
    }

    private func row(_ run: SimulatedRun) -> [String] {
        let summary = run.report.summary
        return [
            run.name, Self.number(summary.goodput.kilobitsPerSecond, 0), Self.number(summary.utilization * 100, 1),
            Self.milliseconds(summary.queueingDelay.median), Self.milliseconds(summary.queueingDelay.percentile95),
            Self.number(summary.lossFraction * 100, 2), Self.milliseconds(summary.frameDelay.median),
            Self.milliseconds(summary.frameDelay.percentile95), Self.number(summary.lateOrLostFraction * 100, 2),
            Self.number(summary.freezeFraction * 100, 2), Self.seconds(summary.rampTime),
            summary.recoveryDeficit.map { Self.number($0 * 100, 1) } ?? "",
            Self.number(summary.paddingFraction * 100, 2),
        ]
    }

    private func stepRow(_ step: StepResponse) -> [String] {
        let rates = "\(Self.number(step.from.kilobitsPerSecond, 0)) → \(Self.number(step.to.kilobitsPerSecond, 0))"
        let isDrop = step.to < step.from
        return [
            Self.seconds(step.time), rates, isDrop ? Self.seconds(step.targetSettling) : "",
            isDrop ? Self.seconds(step.queueSettling) : "", isDrop ? "" : Self.seconds(step.rise),
            Self.milliseconds(step.maximumQueueDelay),
        ]
    }

    private static func number(_ value: Double, _ decimals: Int) -> String {
        String(format: "%.\(decimals)f", value)
    }

    private static func milliseconds(_ duration: Duration) -> String {
        number(duration.milliseconds, 1)
    }

    private static func seconds(_ duration: Duration?) -> String {
        duration.map { number($0.seconds, 1) } ?? "never"
    }

    /// The leading columns to the left, the others to the right.
    static func aligned(_ rows: [[String]], leading: Int = 1) -> [String] {
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            row.enumerated().map { column, cell in
                let space = String(repeating: " ", count: widths[column] - cell.count)
                return column < leading ? cell + space : space + cell
            }.joined(separator: "  ")
        }
    }
}
