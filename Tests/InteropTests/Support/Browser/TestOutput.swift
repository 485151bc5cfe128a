import Foundation

/// Files that tests leave for people to look at.
enum TestOutput {
    /// The folder that `CONFRELAY_TEST_OUTPUT` names, otherwise `.build/test-output`.
    static func file(_ name: String) throws -> URL {
        let folder: URL
        if let path = ProcessInfo.processInfo.environment["CONFRELAY_TEST_OUTPUT"] {
            folder = URL(fileURLWithPath: path)
        } else {
            var root = URL(fileURLWithPath: #filePath)
            for _ in 0..<5 { root.deleteLastPathComponent() }
            folder = root.appendingPathComponent(".build/test-output")
        }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder.appendingPathComponent(name)
    }
}
