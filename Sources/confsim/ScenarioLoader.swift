import Foundation
import Simulation

/// Finds and reads the scenarios that a command line names: files, folders of them, and suites.
struct ScenarioLoader {
    var environment = ProcessInfo.processInfo.environment
    /// A text that the names of the scenarios must contain; nil for all scenarios.
    var only: String?
    /// The largest number of files and folders in a folder of scenarios: the search of a whole disk would take minutes.
    var maximumFiles = 10_000

    /// The suite that runs if no path is given.
    static let standardSuite = "Simulations/suite.yaml"

    /// Returns the scenarios in the order of the paths; at least one.
    func scenarios(_ paths: [String]) throws -> [Scenario] {
        var groups: [(path: String, scenarios: [Scenario])] = []
        for path in paths {
            var found = try self.scenarios(path)
            if let only { found.removeAll { !$0.name.contains(only) } }
            groups.append((path, found))
        }
        let scenarios = Self.distinguished(groups)
        guard !scenarios.isEmpty else {
            let condition = only.map { " whose name contains '\($0)'" } ?? ""
            throw InputError.unusable("there is no scenario\(condition) in \(paths.joined(separator: ", "))")
        }
        return scenarios
    }

    /// Returns the scenarios of all paths. Where two paths have a scenario of one name, both names get their paths:
    /// reports take results of one name for runs of one scenario.
    private static func distinguished(_ groups: [(path: String, scenarios: [Scenario])]) -> [Scenario] {
        var paths: [[String]: Set<String>] = [:]
        for group in groups {
            for scenario in group.scenarios { paths[[scenario.suite, scenario.name], default: []].insert(group.path) }
        }
        return groups.flatMap { group in
            group.scenarios.map { scenario in
                guard paths[[scenario.suite, scenario.name], default: []].count > 1 else { return scenario }
                var scenario = scenario
                scenario.name = "\(group.path): \(scenario.name)"
                return scenario
            }
        }
    }

    private func scenarios(_ path: String) throws -> [Scenario] {
        guard !Self.isFolder(path), SuiteFile.isSuite(path: path) else { return try files(path, below: nil) }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().relativePath
        var scenarios: [Scenario] = []
        for suite in try Self.reading({ () throws(ScenarioError) in try SuiteFile(path: path).suites }) {
            if let needed = suite.needs, environment[needed, default: ""].isEmpty {
                InputError.note("'\(suite.name)' is left out: the environment has no \(needed)")
                continue
            }
            for file in suite.files {
                var found = try files("\(folder)/\(file)", below: folder)
                if let only = suite.only { found.removeAll { !$0.name.contains(only) } }
                for index in found.indices { found[index].suite = suite.name }
                scenarios += found
            }
        }
        return scenarios
    }

    /// Returns the scenarios of a file, or of all files in a folder. Names begin with the file's path below a folder:
    /// `base`, or `path` itself if it is the folder.
    private func files(_ path: String, below base: String?) throws -> [Scenario] {
        guard FileManager.default.fileExists(atPath: path) else {
            throw InputError.unusable("cannot read '\(path)': no such file")
        }
        guard Self.isFolder(path) else { return try read(path, name: base.map { Self.name(path, below: $0) }) }
        let scenarios = try names(inFolder: path).filter { name in
            let last = name.split(separator: "/").last ?? ""
            return last.hasSuffix(".yaml") && !last.hasSuffix("defaults.yaml") && last != "suite.yaml"
        }
        let own = URL(fileURLWithPath: path).lastPathComponent
        return try scenarios.sorted().flatMap { name in
            let file = "\(path)/\(name)"
            return try read(
                file, name: Self.name(file, below: base ?? path), suite: Self.folder(of: name) ?? own)
        }
    }

    /// Returns the names of the files in a folder and its subfolders, without those that begin with a point.
    private func names(inFolder path: String) throws -> [String] {
        guard let enumerator = FileManager.default.enumerator(atPath: path) else { return [] }
        var names: [String] = []
        var count = 0
        for case let name as String in enumerator {
            count += 1
            guard count <= maximumFiles else {
                throw InputError.unusable(
                    "'\(path)' has more than \(maximumFiles) files: name the folder that holds the scenarios")
            }
            if name.split(separator: "/").last?.first == "." {
                enumerator.skipDescendants()
            } else {
                names.append(name)
            }
        }
        return names
    }

    /// Reads a file. Scenarios over traces have a suite of their own; the others belong to the given suite.
    private func read(_ path: String, name: String?, suite: String = "") throws -> [Scenario] {
        var scenarios = try Self.reading { () throws(ScenarioError) in
            try ScenarioFile(path: path, name: name, environment: environment).scenarios
        }
        for index in scenarios.indices where scenarios[index].suite.isEmpty { scenarios[index].suite = suite }
        return scenarios
    }

    private static func reading<Value>(_ body: () throws(ScenarioError) -> Value) throws -> Value {
        do throws(ScenarioError) {
            return try body()
        } catch {
            throw InputError.unusable("\(error)")
        }
    }

    /// Returns the name without its last component; nil if there is only one.
    private static func folder(of name: String) -> String? {
        name.lastIndex(of: "/").map { String(name[..<$0]) }
    }

    private static func name(_ path: String, below folder: String) -> String {
        var name = path.hasPrefix(folder + "/") ? String(path.dropFirst(folder.count + 1)) : path
        if name.hasSuffix(".yaml") { name.removeLast(".yaml".count) }
        return name
    }

    private static func isFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }
}
