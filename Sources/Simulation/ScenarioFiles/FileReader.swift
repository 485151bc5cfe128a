import Foundation
import LinkEmulation
import MediaCore

/// Finds and reads the files that a scenario names.
struct FileReader {
    /// The scenario's file; names are relative to its folder.
    let file: String
    let environment: [String: String]

    /// Returns the path of a file name. `$NAME` at its beginning is replaced by a variable of the environment.
    func path(_ node: ScenarioNode, named key: String) throws(ScenarioError) -> String {
        let name = try node.value(key, expected: "the path of a file") { $0 }
        if name.hasPrefix("$") {
            let variable = String(name.dropFirst().prefix { $0 != "/" })
            guard let value = environment[variable], !value.isEmpty else {
                throw node.error("the environment has no \(variable); set it to the folder that is meant")
            }
            // The value is relative to the folder in which the command is given, like other paths on a command line.
            return URL(fileURLWithPath: value + name.dropFirst(variable.count + 1)).path
        }
        // A name is relative to the file in which it is written, even if another file extends that one.
        let folder = URL(fileURLWithPath: node.file).deletingLastPathComponent()
        return URL(fileURLWithPath: name, relativeTo: folder).path
    }

    func text(_ path: String, named node: ScenarioNode) throws(ScenarioError) -> String {
        do {
            return try String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8)
        } catch {
            throw node.error("cannot read '\(path)': \(UnreadableFile.reason(error))")
        }
    }

    func rate(_ node: ScenarioNode) throws(ScenarioError) -> LinkRate {
        let path = try path(node, named: "trace")
        let text = try text(path, named: node)
        do throws(LinkProfileError) {
            return try LinkRate(parsingTrace: text)
        } catch {
            throw node.error("\(path): \(error)")
        }
    }

    /// Returns the traces of a folder by name: all files except hidden files and documentation.
    func traces(in node: ScenarioNode) throws(ScenarioError) -> [(name: String, path: String)] {
        let folder = try path(node, named: "folder")
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: folder)
        } catch {
            throw node.error("cannot read the folder '\(folder)': \(UnreadableFile.reason(error))")
        }
        let traces = names.filter { !$0.hasPrefix(".") && !$0.hasSuffix(".md") && !$0.hasSuffix(".txt") }.sorted()
        guard !traces.isEmpty else { throw node.error("there are no traces in '\(folder)'") }
        return traces.map { ($0, "\(folder)/\($0)") }
    }

    func trace(_ path: String, named node: ScenarioNode) throws(ScenarioError) -> Duration {
        let scalar = ScenarioNode(file: node.file, line: node.line, content: .scalar(path))
        switch try rate(scalar) {
        case .trace(let trace): return trace.period
        case .steps(let steps): return max(steps.last?.time ?? .seconds(1), .seconds(1))
        case .fixed, .unlimited: return .seconds(1)
        }
    }

    /// Reads frame sizes in bytes, one a line.
    func frameSizes(_ node: ScenarioNode) throws(ScenarioError) -> [DataSize] {
        let path = try path(node, named: "frame-sizes")
        var sizes: [DataSize] = []
        let lines = try text(path, named: node).split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() where !line.isEmpty && !line.hasPrefix("#") {
            guard let bytes = Int(line.trimmingCharacters(in: .whitespaces)), (0...100_000_000).contains(bytes) else {
                throw node.error("\(path): line \(index + 1): '\(line.prefix(40))' is not a frame's size in bytes")
            }
            sizes.append(DataSize(bytes: bytes))
        }
        guard sizes.contains(where: { $0 > .zero }) else { throw node.error("\(path): there is no size in it") }
        return sizes
    }
}
