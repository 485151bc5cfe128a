/// What every link, and every flow of a kind, begins with.
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

    /// A flow with what it does not say itself.
    func completed(_ node: ScenarioNode, kind: String) -> ScenarioNode {
        flows[kind].map { $0.merged(with: node) } ?? node
    }
}
