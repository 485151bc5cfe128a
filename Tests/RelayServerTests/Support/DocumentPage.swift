import Foundation
import Testing

/// Files of the folder `docs`.
enum DocumentPage {
    static func url(_ name: String) -> URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("docs/\(name)")
    }

    static func text(_ name: String) throws -> String { try String(contentsOf: url(name), encoding: .utf8) }

    /// Compares a page's table between `<!-- NAME -->` and `<!-- end -->` with the program's; with
    /// `CONFRELAY_WRITE_DOCS=1` writes it.
    static func expect(_ table: String, named name: String, in page: String) throws {
        var text = try text(page)
        let begin = try #require(text.range(of: "<!-- \(name) -->\n\n"), "no table for \(name)")
        let end = try #require(text.range(of: "\n\n<!-- end -->", range: begin.upperBound..<text.endIndex))
        if ProcessInfo.processInfo.environment["CONFRELAY_WRITE_DOCS"] == "1" {
            text.replaceSubrange(begin.upperBound..<end.lowerBound, with: table)
            try text.write(to: url(page), atomically: true, encoding: .utf8)
        } else {
            #expect(
                text[begin.upperBound..<end.lowerBound] == table,
                "CONFRELAY_WRITE_DOCS=1 swift test --filter DocumentTests writes the tables of \(page)")
        }
    }
}
