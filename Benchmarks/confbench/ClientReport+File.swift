import ConferenceClient
import Foundation

extension ClientReport {
    /// Reads the file that a client wrote with `--stats`.
    static func read(_ path: String) throws -> ClientReport {
        do {
            return try JSONDecoder().decode(ClientReport.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
        } catch {
            throw BenchmarkError.programFailed(name: "confclient", reason: "its statistics cannot be read: \(error)")
        }
    }
}
