import Foundation

/// Finds scenario files in folders.
enum ScenarioFinder {
    /// The files of the paths given, and of folders all that end in `.yaml` but for those that only others extend,
    /// which are called `defaults.yaml`; each with the name of its scenarios.
    static func files(_ paths: [String]) throws -> [(path: String, name: String?)] {
        try paths.flatMap { path -> [(path: String, name: String?)] in
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
                throw InputError.unusable("cannot read '\(path)': no such file")
            }
            guard isFolder.boolValue else { return [(path, nil)] }
            let names = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
            let scenarios = names.filter { $0.hasSuffix(".yaml") && !$0.hasSuffix("defaults.yaml") }.sorted()
            return scenarios.map { ("\(path)/\($0)", String($0.dropLast(".yaml".count))) }
        }
    }
}
