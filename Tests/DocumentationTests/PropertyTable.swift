import MediaCore
import VideoCoding

/// A table in Markdown that shows how each back end handles each property of a compression session.
enum PropertyTable {
    static var text: String {
        let backEnds = EncoderBackEnd.allCases
        var rows = [
            "| property | " + backEnds.map(\.rawValue).joined(separator: " | ") + " | while encoding |",
            "| --- | " + backEnds.map { _ in "---" }.joined(separator: " | ") + " | --- |",
        ]
        for property in CompressionProperty.allCases {
            let supports = backEnds.map { CompressionSession.supportedProperties(of: $0)[property] }
            let ranges = supports.map { $0.map { text($0.range) } ?? "–" }
            let changing = zip(backEnds, supports).filter { $0.1?.canChangeWhileEncoding == true }.map(\.0.rawValue)
            let change =
                changing.count == supports.compactMap { $0 }.count && !changing.isEmpty
                ? "yes" : changing.isEmpty ? "no" : changing.joined(separator: ", ")
            rows.append("| `\(property.rawValue)` | " + ranges.joined(separator: " | ") + " | \(change) |")
        }
        return rows.joined(separator: "\n")
    }

    private static func text(_ range: PropertySupport.Range) -> String {
        switch range {
        case .choices(["false", "true"]), .choices(["true", "false"]): "yes"
        case .choices(["true"]): "always"
        case .choices(let words): words.joined(separator: ", ")
        case .integers(let range): range.upperBound > 1_000_000 ? "from \(range.lowerBound)" : text(range)
        case .numbers(let range): text(range)
        case .bitRates(let range): "\(kilobits(range.lowerBound)) to \(kilobits(range.upperBound)) kbit/s"
        case .sizes(let range):
            range.upperBound.bytes > 1 << 30
                ? "from \(range.lowerBound.bytes) bytes"
                : "\(range.lowerBound.bytes) to \(range.upperBound.bytes) bytes"
        case .durations(let range):
            range.upperBound > .seconds(86_400)
                ? "from \(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
        case .any: "yes"
        }
    }

    private static func text<Bound>(_ range: ClosedRange<Bound>) -> String {
        range.lowerBound == range.upperBound
            ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
    }

    private static func kilobits(_ rate: BitRate) -> Int { Int(rate.kilobitsPerSecond) }
}
