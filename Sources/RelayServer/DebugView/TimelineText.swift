import Conference
import VectorGraphics

/// Figures and names as the debug view writes them.
enum TimelineText {
    /// Returns a name for use inside a sentence: its writing direction does not affect the rest (Unicode Bidirectional
    /// Algorithm, FSI and PDI).
    static func isolated(_ name: String) -> String { "\u{2068}\(name)\u{2069}" }

    static func isolated(_ people: [RoomTimelineSnapshot.Person]) -> String {
        list(people.map { isolated($0.name) })
    }

    /// A list of as many names as fit into a sentence.
    static func list(_ names: [String], atMost limit: Int = 4) -> String {
        guard names.count > limit else { return names.joined(separator: ", ") }
        return names.prefix(limit - 1).joined(separator: ", ") + " and \(names.count - limit + 1) more"
    }

    static func seconds(_ value: Double) -> String { "\(minus(NumberText.fixed(value, 1))) s" }

    static func milliseconds(_ value: Double) -> String { "\(NumberText.fixed(value, value < 10 ? 1 : 0)) ms" }

    static func rate(kilobits: UInt32) -> String {
        kilobits >= 1000 ? "\(NumberText.fixed(Double(kilobits) / 1000, 2)) Mbit/s" : "\(kilobits) kbit/s"
    }

    static func count(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

    /// The words for the time from one moment to another, in seconds from now.
    static func span(_ start: Double, _ end: Double?) -> String {
        "\(seconds(start)) to \(end.map { $0 > -0.05 && $0 <= 0.05 ? "now" : seconds($0) } ?? "now")"
    }

    /// A gain in decibels, by a series that is exact to the tenth: the digits are the same on every machine.
    static func decibels(gain: Double) -> Double {
        guard gain > 0 else { return -99 }
        // gain = significand · 2^exponent, and ln s = 2 artanh((s - 1) / (s + 1)).
        let ratio = (gain.significand - 1) / (gain.significand + 1)
        var (term, sum, divisor) = (ratio, 0.0, 1.0)
        while abs(term) > 1e-9 {
            sum += term / divisor
            term *= ratio * ratio
            divisor += 2
        }
        return (2 * sum + Double(gain.exponent) * 0.693_147_180_6) * 8.685_889_638
    }

    static func gain(_ gain: Double) -> String { NumberText.short(gain, 2) }

    static func decibelText(gain: Double) -> String { "\(minus(NumberText.fixed(decibels(gain: gain), 1))) dB" }

    /// The start of a text that is about as wide as there is room for.
    static func fitted(_ text: String, width: Double, size: Double = 12) -> String {
        var room = width / size
        var result = ""
        for character in text {
            room -= character.isASCII ? 0.56 : 1.05
            guard room >= 0 else { return result.isEmpty ? "" : "\(result.dropLast())…" }
            result.append(character)
        }
        return result
    }

    /// The approximate width of a text.
    static func width(_ text: String, size: Double = 12) -> Double {
        text.reduce(0) { $0 + ($1.isASCII ? 0.52 : 1.05) } * size
    }

    private static func minus(_ text: String) -> String { text.replacing("-", with: "−") }
}
