import Foundation
internal import Yams

/// A value of a scenario's file, with its place in the file.
struct ScenarioNode {
    struct Entry {
        var key: String
        var line: Int
        var value: ScenarioNode
    }

    enum Content {
        /// Null: removes a key of an extended file.
        case null
        case scalar(String)
        case list([ScenarioNode])
        case mapping([Entry])
    }

    var file: String
    var line: Int
    var content: Content

    func error(_ reason: String) -> ScenarioError {
        ScenarioError(file: file, line: line, reason: reason)
    }

    // MARK: Reading

    /// Reads and parses a file.
    init(path: String) throws(ScenarioError) {
        let text: String
        do {
            text = try String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8)
        } catch {
            throw ScenarioError(file: path, line: nil, reason: "cannot read it: \(UnreadableFile.reason(error))")
        }
        try self.init(parsing: text, file: path)
    }

    /// Parses a file's text, which must be a mapping.
    init(parsing text: String, file: String) throws(ScenarioError) {
        let node: Node?
        do {
            node = try Yams.compose(yaml: text)
        } catch {
            throw Self.error(error, file: file)
        }
        guard let node else { throw ScenarioError(file: file, line: nil, reason: "there is nothing in it") }
        try self.init(node, file: file)
        guard case .mapping = content else { throw error("a scenario is a mapping of keys and values") }
    }

    private static func error(_ error: any Error, file: String) -> ScenarioError {
        guard let error = error as? YamlError else {
            return ScenarioError(file: file, line: nil, reason: "\(error)")
        }
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            return ScenarioError(file: file, line: mark.line, reason: "this is no YAML: \(problem)")
        case .duplicatedKeysInMapping(let duplicates, let context):
            let keys = duplicates.map { "\($0)" }.sorted().joined(separator: ", ")
            return ScenarioError(file: file, line: context.mark.line, reason: "a key is given twice: \(keys)")
        default: return ScenarioError(file: file, line: nil, reason: "this is no YAML: \(error)")
        }
    }

    private init(_ node: Node, file: String) throws(ScenarioError) {
        self.file = file
        line = node.mark?.line ?? 1
        switch node {
        case .scalar(let scalar):
            let isNull = scalar.style == .plain && ["", "~", "null"].contains(scalar.string)
            content = isNull ? .null : .scalar(scalar.string)
        case .sequence(let sequence):
            var nodes: [ScenarioNode] = []
            for node in sequence { nodes.append(try ScenarioNode(node, file: file)) }
            content = .list(nodes)
        case .mapping(let mapping):
            var entries: [Entry] = []
            for (key, value) in mapping {
                let keyLine = key.mark?.line ?? line
                guard let name = key.scalar?.string else {
                    throw ScenarioError(file: file, line: keyLine, reason: "a key must be a plain word")
                }
                guard !entries.contains(where: { $0.key == name }) else {
                    throw ScenarioError(file: file, line: keyLine, reason: "'\(name)' is given twice; give it once")
                }
                entries.append(Entry(key: name, line: keyLine, value: try ScenarioNode(value, file: file)))
            }
            content = .mapping(entries)
        case .alias:
            throw ScenarioError(
                file: file, line: line,
                reason: "aliases are not understood here; use 'extends' or 'defaults' to share values")
        }
    }

    init(file: String, line: Int, content: Content) {
        self.file = file
        self.line = line
        self.content = content
    }

    // MARK: Parts

    subscript(key: String) -> ScenarioNode? {
        guard case .mapping(let entries) = content else { return nil }
        return entries.first { $0.key == key }?.value
    }

    mutating func remove(_ key: String) {
        guard case .mapping(let entries) = content else { return }
        content = .mapping(entries.filter { $0.key != key })
    }

    mutating func set(_ key: String, to value: ScenarioNode) {
        guard case .mapping(var entries) = content else { return }
        let entry = Entry(key: key, line: value.line, value: value)
        if let place = entries.firstIndex(where: { $0.key == key }) {
            entries[place] = entry
        } else {
            entries.append(entry)
        }
        content = .mapping(entries)
    }

    // MARK: Merging

    /// The keys that exclude each other: a later one replaces the others.
    private static let alternatives: Set<String> = ["rate", "steps", "trace"]

    /// Returns the node with the values of `other`. Mappings are merged key by key, other values are replaced, and null
    /// removes a key.
    func merged(with other: ScenarioNode) -> ScenarioNode {
        guard case .mapping(var entries) = content, case .mapping(let others) = other.content else { return other }
        if others.contains(where: { Self.alternatives.contains($0.key) }) {
            entries.removeAll { Self.alternatives.contains($0.key) }
        }
        for entry in others {
            guard let place = entries.firstIndex(where: { $0.key == entry.key }) else {
                if case .null = entry.value.content { continue }
                entries.append(entry)
                continue
            }
            if case .null = entry.value.content {
                entries.remove(at: place)
            } else {
                entries[place].value = entries[place].value.merged(with: entry.value)
                entries[place].line = entry.line
            }
        }
        return ScenarioNode(file: other.file, line: other.line, content: .mapping(entries))
    }
}
