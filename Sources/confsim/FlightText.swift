import FlightRecording
import Foundation
import MediaCore

/// A readable summary of a flight recording.
struct FlightText {
    var analysis: FlightAnalysis
    var path: FlightPath
    var ending: FlightEnding?
    /// The other controller of the replay; nil if there is none.
    var other: String?
    var decisionCount: Int

    var text: String {
        var lines = [title]
        func add(_ name: String, _ value: String) {
            lines.append("  " + name.padding(toLength: 16, withPad: " ", startingAt: 0) + value)
        }
        add("duration", String(format: "%.1f s", analysis.duration.seconds) + (ending.map { Self.note($0) } ?? ""))
        add(
            "packets sent",
            "\(analysis.packetCount) (\(Self.megabytes(analysis.sentSize)), \(analysis.probePacketCount) in probes)")
        add(
            "feedbacks",
            "\(analysis.feedbackCount) (\(analysis.receivedPacketCount) packets arrived, "
                + "\(analysis.missingPacketCount) missing), \(analysis.receiverReportCount) receiver reports")
        add("decisions", "\(decisionCount)")
        add("target", Self.target(analysis.target))
        if let other { add("of \(other)", Self.target(analysis.replayedTarget) + " (open loop)") }
        add("goodput", Self.megabits(BitRate(analysis.receivedSize, over: analysis.duration)) + " Mbit/s")
        let delays = path.packets.map(\.queueingDelay).sorted()
        if !delays.isEmpty {
            let mean = delays.reduce(0.0) { $0 + $1.milliseconds } / Double(delays.count)
            let percentiles = [50, 95, 99].map { percent in
                String(format: "p%d %.1f", percent, delays[(delays.count - 1) * percent / 100].milliseconds)
            }
            add("queueing delay", String(format: "mean %.1f, ", mean) + percentiles.joined(separator: ", ") + " ms")
        }
        if other != nil {
            lines.append(
                "open loop: the packets and the feedback are those of \(FlightFile.shown(analysis.header.controller)), "
                    + "whatever the other decides")
        }
        return lines.joined(separator: "\n")
    }

    private var title: String {
        let header = analysis.header
        var title = FlightFile.shown(header.controller)
        if !header.participant.isEmpty { title += ", \(FlightFile.shown(header.participant))" }
        if !header.room.isEmpty { title += " in \(FlightFile.shown(header.room))" }
        if header.wallClockMilliseconds > 0 {
            let date = Date(timeIntervalSince1970: Double(header.wallClockMilliseconds) / 1000)
            title += ", \(date.formatted(.iso8601))"
        }
        if !header.program.isEmpty { title += ", by \(FlightFile.shown(header.program))" }
        return title
    }

    private static func note(_ ending: FlightEnding) -> String {
        switch ending {
        case .closed: ""
        case .limitReached: " (the recording had reached its limit)"
        case .overrun(let lostRecords): " (the disk was too slow then: \(lostRecords) records were not taken)"
        case .truncated(let offset):
            " (the file ends at byte \(offset) without an end: what made it was cut off; all before is used)"
        }
    }

    private static func target(_ figures: TargetFigures) -> String {
        guard let minimum = figures.minimum, let mean = figures.mean, let maximum = figures.maximum else {
            return "none"
        }
        return "min \(megabits(minimum)), mean \(megabits(mean)), max \(megabits(maximum)) Mbit/s"
    }

    private static func megabits(_ rate: BitRate) -> String {
        String(format: "%.3f", Double(rate.bitsPerSecond) / 1e6)
    }

    private static func megabytes(_ size: DataSize) -> String { String(format: "%.2f MB", Double(size.bytes) / 1e6) }
}
