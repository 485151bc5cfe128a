/// Reads a suite: named groups of scenario files that run together and are compared.
///
///     suites:
///       rfc8867: {files: rfc8867}
///       traces/300ms: {files: peer-suite.yaml, only: 300ms/, needs: CONFRELAY_TRACES_DIR}
public struct SuiteFile {
    /// A group of scenarios.
    public struct Suite: Hashable, Sendable {
        public var name: String
        /// The files and folders, relative to the suite's own folder.
        public var files: [String]
        /// A text that the names of the scenarios must contain; nil for all scenarios.
        public var only: String?
        /// An environment variable that the suite needs; without it the suite is skipped. Nil for none.
        public var needs: String?
    }

    public let suites: [Suite]

    /// Returns true if a file is a suite, not a scenario.
    public static func isSuite(path: String) -> Bool {
        (try? ScenarioNode(path: path))?["suites"] != nil
    }

    /// Reads a suite from a file.
    public init(path: String) throws(ScenarioError) {
        let root = try ScenarioNode(path: path)
        var reader = try MappingReader(root, subject: "a suite")
        guard let node = reader.take("suites") else { throw root.error("a suite needs 'suites'") }
        try reader.finish()
        var suites: [Suite] = []
        for entry in try MappingReader(node, subject: "'suites'").rest {
            var reader = try MappingReader(entry.value, subject: "the suite '\(entry.key)'")
            var files: [String] = []
            for file in try reader.texts("files") ?? [] {
                files.append(try file.value("files", expected: "the path of a file or a folder") { $0 })
            }
            let only = try reader.text("only")
            let needs = try reader.text("needs")
            try reader.finish()
            guard !files.isEmpty else { throw entry.value.error("the suite '\(entry.key)' needs 'files'") }
            suites.append(Suite(name: entry.key, files: files, only: only, needs: needs))
        }
        guard !suites.isEmpty else { throw node.error("there is no suite in it") }
        self.suites = suites
    }
}
