import Foundation
import MediaCore

/// Reads scenarios from YAML files.
///
/// A file describes one scenario, or several: `variants` overlays it by name, and `traces` runs it over each trace of a
/// folder. Common parts stand once, in a file that others extend (`extends:`), whose mappings are merged with theirs
/// key by key. `defaults:` has the default values of every link and of every flow of a kind.
public struct ScenarioFile {
    /// The scenarios in the order of the file.
    public let scenarios: [Scenario]

    /// Reads a file and the files that it names, relative to its own folder.
    ///
    /// - Parameters:
    ///   - name: The name of its scenarios; by default the file's name without its extension.
    ///   - environment: The values of `$NAME` in paths.
    public init(path: String, name: String? = nil, environment: [String: String]) throws(ScenarioError) {
        let url = URL(fileURLWithPath: path)
        let root = try Self.read(path, depth: 0)
        let name = name ?? url.deletingPathExtension().lastPathComponent
        scenarios = try Self.scenarios(root, name: name, files: FileReader(file: path, environment: environment))
    }

    // MARK: Files

    private static let maximumDepth = 8

    private static func read(_ path: String, depth: Int) throws(ScenarioError) -> ScenarioNode {
        var node = try ScenarioNode(path: path)
        guard let extended = node["extends"] else { return node }
        let name = try extended.value("extends", expected: "the path of a file") { $0 }
        guard depth < maximumDepth else { throw extended.error("files extend each other more than 8 deep") }
        let base = URL(fileURLWithPath: name, relativeTo: URL(fileURLWithPath: path).deletingLastPathComponent())
        node.remove("extends")
        return try read(base.path, depth: depth + 1).merged(with: node)
    }

    // MARK: Variants and traces

    private static func scenarios(
        _ root: ScenarioNode, name: String, files: FileReader
    ) throws(ScenarioError) -> [Scenario] {
        var base = root
        base.remove("variants")
        guard let variants = root["variants"] else { return try scenariosOfTraces(base, name: name, files: files) }
        let reader = try MappingReader(variants, subject: "'variants'")
        var scenarios: [Scenario] = []
        for variant in reader.rest {
            scenarios += try scenariosOfTraces(
                base.merged(with: variant.value), name: "\(name)/\(variant.key)", files: files)
        }
        return scenarios
    }

    private static func scenariosOfTraces(
        _ root: ScenarioNode, name: String, files: FileReader
    ) throws(ScenarioError) -> [Scenario] {
        guard let traces = root["traces"] else { return [try scenario(root, name: name, files: files)] }
        var reader = try MappingReader(traces, subject: "'traces'")
        guard let folder = reader.take("folder") else { throw traces.error("'traces' needs a folder") }
        guard let link = try reader.text("link") else {
            throw traces.error("'traces' needs the link that they are for")
        }
        let lasts = try reader.boolean("whole-length") ?? true
        let shortest = try reader.duration("at-least") ?? .zero
        try reader.finish()
        guard let links = root["links"], let old = links[link] else {
            throw traces.error("there is no link '\(link)' for the traces")
        }
        var scenarios: [Scenario] = []
        for (file, path) in try files.traces(in: folder) {
            var overlay = ScenarioNode(file: old.file, line: old.line, content: .mapping([]))
            overlay.set("trace", to: ScenarioNode(file: folder.file, line: folder.line, content: .scalar(path)))
            var root = root
            root.remove("traces")
            var links = links
            links.set(link, to: old.merged(with: overlay))
            root.set("links", to: links)
            if lasts, root["duration"] == nil {
                let period = try files.trace(path, named: folder)
                // A short trace repeats as a whole.
                let times = period > .zero ? max((shortest.seconds / period.seconds).rounded(.up), 1) : 1
                root.set(
                    "duration",
                    to: ScenarioNode(
                        file: folder.file, line: folder.line, content: .scalar("\(period.seconds * times)s")))
            }
            var made = try scenario(root, name: "\(name)/\(file)", files: files)
            made.suite = name
            scenarios.append(made)
        }
        return scenarios
    }

    // MARK: One scenario

    private static func scenario(
        _ root: ScenarioNode, name: String, files: FileReader
    ) throws(ScenarioError) -> Scenario {
        var reader = try MappingReader(root, subject: "a scenario")
        let title = try reader.text("title") ?? ""
        let reference = try reader.text("reference") ?? ""
        let expectation = try reader.text("expected") ?? ""
        guard let duration = try reader.duration("duration"), duration >= .seconds(1) else {
            throw (root["duration"] ?? root).error("a scenario needs a 'duration' of at least 1s")
        }
        let window = try reader.take("evaluate").map { node throws(ScenarioError) in
            try node.span("evaluate", until: duration)
        }
        let defaults = try Defaults(reader.take("defaults"))
        guard let linkNodes = reader.take("links") else { throw root.error("a scenario needs 'links'") }
        guard let flowNodes = reader.take("flows") else { throw root.error("a scenario needs 'flows'") }
        _ = reader.take("variants")
        _ = reader.take("traces")
        _ = reader.take("extends")
        try reader.finish()

        var links: [Scenario.Link] = []
        for entry in try MappingReader(linkNodes, subject: "'links'").rest {
            let node = defaults.link.map { $0.merged(with: entry.value) } ?? entry.value
            let link = LinkReader(files: files, duration: duration)
            links.append(Scenario.Link(name: entry.key, profile: try link.profile(node)))
        }
        let flows = FlowReader(files: files, duration: duration, defaults: defaults, links: Set(links.map(\.name)))
        var all: [Scenario.Flow] = []
        for entry in try MappingReader(flowNodes, subject: "'flows'").rest {
            all += try flows.flows(named: entry.key, entry.value)
        }
        guard !all.isEmpty else { throw flowNodes.error("a scenario needs at least one flow") }
        return Scenario(
            name: name, title: title, reference: reference, expectation: expectation, duration: duration,
            window: window, links: links, flows: all)
    }
}

/// The default values of every link, and of every flow of a kind.
struct Defaults {
    static let flowKinds = ["media", "audio", "tcp", "udp"]

    private(set) var link: ScenarioNode?
    private var flows: [String: ScenarioNode] = [:]

    init(_ node: ScenarioNode?) throws(ScenarioError) {
        guard let node else { return }
        var reader = try MappingReader(node, subject: "'defaults'")
        link = reader.take("link")
        for kind in Self.flowKinds { flows[kind] = reader.take(kind) }
        try reader.finish()
    }

    /// Returns a flow with the default values for the keys that it lacks.
    func completed(_ node: ScenarioNode, kind: String) -> ScenarioNode {
        flows[kind].map { $0.merged(with: node) } ?? node
    }
}
