import Foundation

/// A directory of this run's own.
struct ScratchDirectory {
    private let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("confbench-\(UUID().uuidString)")
        do {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        } catch {
            throw BenchmarkError.system(reason: "\(url.path) cannot be made: \(error.localizedDescription)")
        }
    }

    func path(of name: String) -> String { url.appendingPathComponent(name).path }

    /// Files that cannot be removed are left to the system.
    func remove() {
        try? FileManager.default.removeItem(at: url)
    }
}
