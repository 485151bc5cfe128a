import Foundation

/// Files of the folder `docs`.
enum DocumentPage {
    static func url(_ name: String) -> URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("docs/\(name)")
    }

    static func text(_ name: String) throws -> String { try String(contentsOf: url(name), encoding: .utf8) }
}
