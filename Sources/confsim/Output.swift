import Foundation

/// Writes files that the command line names.
enum Output {
    static func write(_ data: Data, to path: String) throws {
        do {
            try data.write(to: URL(fileURLWithPath: path))
        } catch {
            throw InputError.unwritable("cannot write '\(path)': \(error.localizedDescription)")
        }
    }
}
