import Foundation

/// A folder of a test's own, removed when the test lets go of it.
final class TemporaryFolder {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("confrelay-interop-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    func file(_ name: String) -> URL { url.appendingPathComponent(name) }

    func size(of name: String) -> Int {
        (try? FileManager.default.attributesOfItem(atPath: file(name).path)[.size] as? Int) ?? 0
    }
}
