import MediaCore
import VideoCoding

/// A table in Markdown that shows the values of each property of a compression session, and the encoders that have it.
enum PropertyTable {
    static var text: String {
        let backEnds = EncoderBackEnd.allCases
        var rows = ["| property | values | encoders | while encoding |", "| --- | --- | --- | --- |"]
        for property in CompressionProperty.allCases {
            var names: [String] = []
            var ranges: [String] = []
            var changing: [String] = []
            for backEnd in backEnds {
                guard let support = CompressionSession.supportedProperties(of: backEnd)[property] else { continue }
                names.append(backEnd.rawValue)
                ranges.append(text(support.range))
                if support.canChangeWhileEncoding { changing.append(backEnd.rawValue) }
            }
            let values =
                Set(ranges).count == 1
                ? ranges[0] : zip(names, ranges).map { "\($0): \($1)" }.joined(separator: ", ")
            let encoders = names.count == backEnds.count ? "all" : names.joined(separator: ", ")
            let change =
                changing.isEmpty ? "no" : changing.count == names.count ? "yes" : changing.joined(separator: ", ")
            rows.append("| `\(property.rawValue)` | \(values) | \(encoders) | \(change) |")
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
