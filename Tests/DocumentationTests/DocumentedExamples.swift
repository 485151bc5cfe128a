import Foundation
import Testing

/// The code between `// example NAME` and `// end`, which a document shows and a test compiles and runs.
struct DocumentedExamples {
    /// By name, without their indentation.
    let examples: [String: String]

    /// - Parameter file: The file of these tests that the examples stand in.
    init(file: String) throws {
        let source = try Self.text("Tests/DocumentationTests/\(file)")
        var examples: [String: String] = [:]
        for match in source.matches(of: #/ *\/\/ example (\w+)\n((?s).*?) *\/\/ end\n/#) {
            let lines = match.2.split(separator: "\n", omittingEmptySubsequences: false)
            let indentation = lines.first?.prefix { $0 == " " }.count ?? 0
            examples[String(match.1)] = lines.map { String($0.dropFirst($0.isEmpty ? 0 : indentation)) }
                .joined(separator: "\n").trimmingCharacters(in: .newlines)
        }
        self.examples = examples
    }

    /// Checks that a document's code is among the examples.
    func checkCode(in document: String) throws {
        let blocks = try Self.text(document).matches(of: #/(?m)^```swift\n((?s).*?)^```$/#).map {
            // Documents also show imports, which are not part of the examples.
            $0.1.split(separator: "\n", omittingEmptySubsequences: false).filter { !$0.hasPrefix("import ") }
                .joined(separator: "\n").trimmingCharacters(in: .newlines)
        }
        #expect(!blocks.isEmpty)
        for block in blocks where !block.hasPrefix(".package") {
            #expect(examples.values.contains(block), "\(document) shows what is not compiled:\n\(block)")
        }
    }

    /// The text of a file of the package.
    static func text(_ path: String) throws -> String {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { root.deleteLastPathComponent() }
        return try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }
}
