import HTTPTypes

/// The media types that a client accepts, by its `Accept` field (RFC 9110, section 12.5.1).
struct AcceptedTypes {
    private var ranges: [(range: String, quality: Double)] = []

    /// Reads the field; parts that are no media ranges are left out. Without the field everything is welcome.
    init(_ field: String?) {
        guard let field else {
            ranges = [("*/*", 1)]
            return
        }
        for element in field.split(separator: ",").prefix(Self.maximumRanges) {
            let parts = element.split(separator: ";").map { $0.filter { !$0.isWhitespace }.lowercased() }
            guard let range = parts.first, range.contains("/") else { continue }
            let quality = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            ranges.append((range, quality))
        }
    }

    /// A number of ranges that no browser exceeds.
    private static let maximumRanges = 64

    /// Returns the preference for a type, from 0 to 1, of the most specific range that fits it.
    func quality(of type: String) -> Double {
        let anySubtype = type.prefix { $0 != "/" } + "/*"
        for range in [type, String(anySubtype), "*/*"] {
            if let match = ranges.first(where: { $0.range == range }) { return match.quality }
        }
        return 0
    }

    /// True if a page for people is preferred over data for programs.
    ///
    /// Only clients that name HTML get it if both exist: browsers do, and programs that accept anything do not.
    var prefersHTML: Bool {
        let html = ranges.first { $0.range == "text/html" }?.quality ?? 0
        return html > 0 && html >= quality(of: "application/json")
    }
}
