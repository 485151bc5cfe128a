import Foundation
import Testing

@testable import Conference
@testable import RelayServer

/// The tables of docs/metrics.md, each between `<!-- NAME -->` and `<!-- end -->`, equal the program's own list.
///
/// `CONFRELAY_WRITE_DOCS=1` writes them again.
@Suite("The page on metrics", .serialized)
struct MetricsDocumentTests {
    private static let page = "metrics.md"

    @Test(
        "lists the values that the program writes",
        arguments: [
            ("relay", rows(MetricFamily.relay)), ("overload", rows(MetricFamily.overload)),
            ("room", rows(MetricFamily.room)),
            ("participant", rows(MetricFamily.participant)),
        ])
    func tables(name: String, rows: [String]) throws {
        var text = try DocumentPage.text(Self.page)
        let table = (["| name | meaning |", "| --- | --- |"] + rows).joined(separator: "\n")
        let begin = try #require(text.range(of: "<!-- \(name) -->\n\n"), "no table for \(name)")
        let end = try #require(text.range(of: "\n\n<!-- end -->", range: begin.upperBound..<text.endIndex))
        if ProcessInfo.processInfo.environment["CONFRELAY_WRITE_DOCS"] == "1" {
            text.replaceSubrange(begin.upperBound..<end.lowerBound, with: table)
            try text.write(to: DocumentPage.url(Self.page), atomically: true, encoding: .utf8)
        } else {
            #expect(
                text[begin.upperBound..<end.lowerBound] == table,
                "CONFRELAY_WRITE_DOCS=1 swift test --filter MetricsDocumentTests writes the tables anew")
        }
    }

    private static func rows<Subject>(_ families: [MetricFamily<Subject>]) -> [String] {
        families.map { "| `\($0.name)` | \($0.meaning) |" }
    }
}
