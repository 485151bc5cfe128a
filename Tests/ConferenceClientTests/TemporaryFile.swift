import Foundation

/// A path that is removed when the test is over.
final class TemporaryFile {
    let path: String

    init(_ suffix: String) {
        path =
            FileManager.default.temporaryDirectory.appendingPathComponent("confclient-\(UUID().uuidString)\(suffix)")
            .path
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}
