/// Writes metrics in the Prometheus text format, version 0.0.4: families one after the other, each with its help and
/// type and then its samples.
struct PrometheusText {
    /// The type of a metric family.
    enum Kind: String {
        case counter, gauge, histogram
    }

    /// A label's name and value; the name must be a valid one, the value is escaped.
    typealias Label = (name: String, value: String)

    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    private(set) var text = ""
    private var family = ""

    /// Begins a family; samples belong to it until the next one begins.
    mutating func begin(_ name: String, _ kind: Kind, help: String) {
        family = name
        text += "# HELP \(name) \(Self.escape(help, quotes: false))\n# TYPE \(name) \(kind.rawValue)\n"
    }

    /// Writes a sample of the family begun last.
    mutating func sample(_ value: Double, _ labels: [Label] = []) {
        write(suffix: "", labels: labels, value: Self.format(value))
    }

    /// Writes a histogram's buckets, sum and count.
    ///
    /// - Parameters:
    ///   - bounds: The upper bounds of the buckets, rising.
    ///   - counts: The observations in each bucket (not cumulative), and at last those above every bound.
    ///   - sum: The sum of all observations.
    mutating func histogram(bounds: [Double], counts: [UInt64], sum: Double, _ labels: [Label]) {
        var cumulative: UInt64 = 0
        for (bound, count) in zip(bounds, counts) {
            cumulative &+= count
            write(suffix: "_bucket", labels: labels + [("le", Self.format(bound))], value: String(cumulative))
        }
        let total = counts.reduce(0, &+)
        write(suffix: "_bucket", labels: labels + [("le", "+Inf")], value: String(total))
        write(suffix: "_sum", labels: labels, value: Self.format(sum))
        write(suffix: "_count", labels: labels, value: String(total))
    }

    private mutating func write(suffix: String, labels: [Label], value: String) {
        text += family
        text += suffix
        if !labels.isEmpty {
            text += "{"
            for (index, label) in labels.enumerated() {
                if index > 0 { text += "," }
                text += label.name
                text += "=\""
                text += Self.escape(label.value, quotes: true)
                text += "\""
            }
            text += "}"
        }
        text += " \(value)\n"
    }

    private static func format(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
        if value == value.rounded(), value.magnitude < 1e15 { return String(Int64(value)) }
        return value.description
    }

    private static func escape(_ text: String, quotes: Bool) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where quotes: result += "\\\""
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
