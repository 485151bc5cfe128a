import Foundation
import Testing

@Suite("The boundaries of modules")
struct ModuleBoundaryTests {
    /// The modules that are handed bytes, frames and the time, and that open nothing and read no clock.
    private static let coreModules = [
        "MediaCore", "H264", "RTP", "CongestionControl", "LinkEmulation", "ResearchControllers", "FlightRecording",
        "AudioMixing", "SecureTransport", "PeerConnection", "EncoderSharing", "Conference",
    ]
    /// The clocks that drivers read are in `MediaCore`, beside the core's types of time.
    private static let clocks: Set<String> = ["SystemMediaClock.swift", "DatagramArrivalClock.swift"]
    private static let systemModules: Set<String> = [
        "Foundation", "FoundationEssentials", "Dispatch", "NIOPosix", "Logging", "ServiceLifecycle",
    ]
    private static let systemNames = [
        "ContinuousClock", "SuspendingClock", "DispatchTime", "clock_gettime", "gettimeofday", "Task.sleep",
        "FileHandle", "FileManager", "getenv", "fopen",
    ]

    @Test("the core reads no clock and imports no input or output", arguments: coreModules)
    func core(_ module: String) throws {
        for file in try Self.sources(of: module) where !Self.clocks.contains(file.name) {
            let forbidden = file.imports.filter(Self.systemModules.contains)
            #expect(forbidden.isEmpty, "\(module)/\(file.name) imports \(forbidden)")
            for line in file.code {
                let named = Self.systemNames.filter(line.contains)
                #expect(named.isEmpty, "\(module)/\(file.name) uses \(named): \(line)")
            }
        }
    }

    @Test("modules import what Package.swift declares, and nothing else")
    func imports() throws {
        let declared = try Self.declaredDependencies()
        try #require(declared.count > 20)
        for (module, _) in declared {
            let reachable = Self.closure(of: module, declared)
            for file in try Self.sources(of: module) {
                let undeclared = file.imports.filter { declared[$0] != nil && $0 != module && !reachable.contains($0) }
                #expect(undeclared.isEmpty, "\(module)/\(file.name) imports \(undeclared)")
            }
        }
    }

    @Test("modules use the dependencies that they declare")
    func declarations() throws {
        for (module, dependencies) in try Self.declaredDependencies() {
            let imported = Set(try Self.sources(of: module).flatMap(\.imports))
            let unused = dependencies.subtracting(imported)
            #expect(unused.isEmpty, "\(module) declares \(unused.sorted()) and imports none of them")
        }
    }

    @Test("docs/architecture.md names the arrows of Package.swift, without those that follow from others")
    func arrows() throws {
        let text = try String(contentsOf: Self.root.appendingPathComponent("docs/architecture.md"), encoding: .utf8)
        var documented: [String: Set<String>] = [:]
        let house = try #require(text.components(separatedBy: "\n## Where is").first)
        for row in house.matches(of: /\n\| `(?<module>\w+)` \| [^|]+ \| (?<below>[^|]*)\|/) {
            let below = row.output.below.matches(of: /`(?<name>\w+)`/).map { String($0.output.name) }
            documented[String(row.output.module)] = Set(below)
        }
        let declared = try Self.declaredDependencies()
        for (module, all) in declared {
            let below = all.filter { declared[$0] != nil }
            let direct = below.filter { name in
                !below.contains { $0 != name && Self.closure(of: $0, declared).contains(name) }
            }
            #expect(documented[module] == direct, "\(module) is directly above \(direct.sorted())")
            #expect(!Self.closure(of: module, declared).contains(module), "\(module) is above itself")
        }
        #expect(Set(documented.keys) == Set(declared.keys))
    }

    @Test("docs/architecture.md names files that are there, at most three for a behaviour")
    func namedFiles() throws {
        let text = try String(contentsOf: Self.root.appendingPathComponent("docs/architecture.md"), encoding: .utf8)
        let table = try #require(
            text.components(separatedBy: "## Where is").last?.components(separatedBy: "\n## ").first)
        let rows = table.split(separator: "\n").filter { $0.hasPrefix("| ") && !$0.hasPrefix("| ---") }.dropFirst()
        #expect(rows.count >= 20)
        for (index, row) in rows.enumerated() {
            let files = row.matches(of: /`(?<path>[\w\/+]+\.swift)`/).map { String($0.output.path) }
            // The way from the controller's target to the encoder goes through five modules.
            #expect((1...(index == 0 ? 5 : 3)).contains(files.count), "\(row)")
            for file in files {
                let path = Self.root.appendingPathComponent("Sources/\(file)").path
                #expect(FileManager.default.fileExists(atPath: path), "\(file) is not there")
            }
        }
    }

    // MARK: Reading

    private struct Source {
        var name: String
        var imports: [String]
        /// The lines without comments.
        var code: [Substring]
    }

    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static func sources(of module: String) throws -> [Source] {
        let folder = root.appendingPathComponent("Sources/\(module)")
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.allObjects ?? []
        return try files.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }.map { url in
            let text = try String(contentsOf: url, encoding: .utf8)
            let code = text.split(separator: "\n").filter { !$0.drop(while: { $0 == " " }).hasPrefix("//") }
            let imports = code.compactMap { line -> String? in
                let words = line.split(separator: " ")
                guard let place = words.firstIndex(of: "import"), place + 1 < words.count,
                    words[..<place].allSatisfy({ $0.hasPrefix("@") || accessLevels.contains($0) })
                else { return nil }
                return String(words[words.count - 1].prefix { $0 != "." })
            }
            return Source(name: url.lastPathComponent, imports: imports, code: code)
        }
    }

    private static let accessLevels: Set<Substring> = ["public", "package", "internal", "private", "fileprivate"]

    /// The modules of `Package.swift`, each with those that it depends on.
    private static func declaredDependencies() throws -> [String: Set<String>] {
        let text = try String(contentsOf: root.appendingPathComponent("Package.swift"), encoding: .utf8)
        let list = try #require(text.firstMatch(of: /let modules: \[Module\] = \[(?<body>[\s\S]*?)\n\]\n/)).output.body
        var declared: [String: Set<String>] = [:]
        for match in list.matches(
            of: /Module\(\s*name: "(?<name>\w+)",\s*dependencies: \[(?<rest>(?:[^\[\]]|\[[^\]]*\])*)\]/)
        {
            let names = match.output.rest.matches(of: /(?<before>\w+: |\[)?"(?<name>\w+)"/)
                .filter { $0.output.before == nil }.map { String($0.output.name) }
            declared[String(match.output.name)] = Set(names)
        }
        return declared
    }

    private static func closure(of module: String, _ declared: [String: Set<String>]) -> Set<String> {
        var reached: Set<String> = []
        var open = [module]
        while let next = open.popLast() {
            for dependency in declared[next] ?? [] where reached.insert(dependency).inserted { open.append(dependency) }
        }
        return reached
    }
}
