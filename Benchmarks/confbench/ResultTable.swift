import Foundation

/// The results as a Markdown table.
struct ResultTable {
    var report: BenchmarkReport

    var text: String {
        let columns = [
            "way", "N", "floor", "+audio", "relay", "ratio", "+audio", "from", "to", "workers", "loop", "other",
            "decoded/s",
            "composed/s", "encoded/s", "fps each", "left out", "missed ticks", "late audio",
        ]
        let rows = report.conferences.map { conference in
            [
                conference.way.rawValue, "\(conference.participants)", Self.number(conference.floorCores, 3),
                Self.number(conference.floorWithAudioCores, 3), Self.number(conference.relayCores, 3),
                Self.number(conference.ratio, 3), Self.number(conference.ratioWithAudio, 3),
                Self.number(conference.lowestRatioWithAudio, 3), Self.number(conference.highestRatioWithAudio, 3),
                Self.number(conference.workerCores, 3), Self.number(conference.eventLoopCores, 3),
                Self.number(conference.otherCores, 3), Self.number(conference.work.decodes, 1),
                Self.number(conference.work.compositions, 1), Self.number(conference.work.encodes, 1),
                Self.number(conference.framesPerReceiver, 2),
                "\(conference.framesDropped)", "\(conference.missedTicks)", "\(conference.lateAudioTicks)",
            ]
        }
        return Self.aligned([columns] + rows).joined(separator: "\n")
    }

    static func number(_ value: Double, _ decimals: Int) -> String {
        String(format: "%.\(decimals)f", value)
    }

    static func percent(_ share: Double) -> String { number(share * 100, 1) + " %" }

    static func signedPercent(_ share: Double) -> String { (share < 0 ? "" : "+") + percent(share) }

    /// Returns the lines of a Markdown table, with cells aligned to the right: for terminals and for documents.
    ///
    /// - Parameter rows: The names of the columns, then the rows.
    static func aligned(_ rows: [[String]]) -> [String] {
        guard let columns = rows.first else { return [] }
        let widths = columns.indices.map { column in max(rows.map { $0[column].count }.max() ?? 0, 3) }
        let lines = rows.map { row in
            let cells = row.enumerated().map { column, cell in
                String(repeating: " ", count: widths[column] - cell.count) + cell
            }
            return "| \(cells.joined(separator: " | ")) |"
        }
        let rule = "| \(widths.map { String(repeating: "-", count: $0 - 1) + ":" }.joined(separator: " | ")) |"
        return [lines[0], rule] + lines.dropFirst()
    }
}
