import Foundation
import Testing

@Suite("The documents")
struct DocumentLinkTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The README, the pages of `docs`, and other documents, relative to the package.
    private static let pages: [String] = {
        let docs = (try? FileManager.default.contentsOfDirectory(atPath: root.path + "/docs")) ?? []
        return ["README.md", "CHANGELOG.md", "Simulations/README.md", "Benchmarks/results.md"]
            + docs.filter { $0.hasSuffix(".md") }.sorted().map { "docs/\($0)" }
    }()

    @Test("link only to files and headings that exist", arguments: pages)
    func links(page: String) throws {
        let url = Self.root.appendingPathComponent(page)
        for link in try Self.links(in: url) {
            let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let target = parts[0].isEmpty ? url : url.deletingLastPathComponent().appendingPathComponent(parts[0])
            guard FileManager.default.fileExists(atPath: target.standardizedFileURL.path) else {
                Issue.record("\(page) links to \(link), which does not exist")
                continue
            }
            guard parts.count == 2, target.pathExtension == "md" else { continue }
            #expect(try Self.anchors(of: target).contains(parts[1]), "\(page) links to \(link): no such heading")
        }
    }

    @Test("are all listed in docs/README.md")
    func index() throws {
        let index = Self.root.appendingPathComponent("docs/README.md")
        let listed = Set(try Self.links(in: index).map { "docs/\($0)" })
        try #require(Self.pages.count > 20)
        for page in Self.pages where page.hasPrefix("docs/") && page != "docs/README.md" {
            #expect(listed.contains(page), "docs/README.md does not list \(page)")
        }
    }

    /// The targets of a page's links and images that are within the package.
    private static func links(in page: URL) throws -> [String] {
        try prose(of: page).joined(separator: "\n").matches(of: /\]\((?<target>[^)\s]+)\)/).map {
            String($0.output.target)
        }
        .filter { !$0.contains(":") }
    }

    /// The anchors that GitHub makes of a page's headings: lower case, without punctuation, with hyphens for spaces.
    private static func anchors(of page: URL) throws -> Set<String> {
        let headings = try prose(of: page).filter { $0.hasPrefix("#") }.map { $0.drop { $0 == "#" }.dropFirst() }
        return Set(
            headings.map { heading in
                String(
                    heading.lowercased().compactMap { character in
                        character == " "
                            ? "-"
                            : character.isLetter || character.isNumber || "-_".contains(character)
                                ? character : nil
                    })
            })
    }

    /// A page's lines outside of blocks of code.
    private static func prose(of page: URL) throws -> [Substring] {
        var isCode = false
        return try String(contentsOf: page, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
            .filter { line in
                if line.hasPrefix("```") { isCode.toggle() }
                return !isCode
            }
    }
}
