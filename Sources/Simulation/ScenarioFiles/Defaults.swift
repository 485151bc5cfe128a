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
