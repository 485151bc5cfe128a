/// Formats numbers as text, identically on every machine.
public enum NumberText {
    /// Formats with exactly this many decimals, at most six; rounds half away from zero.
    public static func fixed(_ value: Double, _ decimals: Int) -> String {
        guard value.isFinite, abs(value) < 1e12 else { return value.isNaN ? "" : value > 0 ? "∞" : "-∞" }
        var unit: Int64 = 1
        for _ in 0..<min(max(decimals, 0), 6) { unit *= 10 }
        let scaled = Int64((abs(value) * Double(unit)).rounded())
        let sign = value < 0 && scaled > 0 ? "-" : ""
        guard unit > 1 else { return "\(sign)\(scaled)" }
        let digits = String(scaled % unit + unit).dropFirst()
        return "\(sign)\(scaled / unit).\(digits)"
    }

    /// Formats with at most this many decimals, without zeros at the end.
    public static func short(_ value: Double, _ decimals: Int) -> String {
        var text = fixed(value, decimals)
        guard text.contains(".") else { return text }
        while text.hasSuffix("0") { text.removeLast() }
        if text.hasSuffix(".") { text.removeLast() }
        return text
    }

    /// Formats an optional value; empty if it is nil.
    public static func fixed(_ value: Double?, _ decimals: Int) -> String {
        value.map { fixed($0, decimals) } ?? ""
    }
}
