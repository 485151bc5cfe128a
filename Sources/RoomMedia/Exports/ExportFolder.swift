import Foundation
import MediaCore
import MediaFiles
import RoomAPI

/// The films of one recording on the disk: `exports` in its folder, with a JSON file beside each film that says what
/// was asked for and what became of it.
struct ExportFolder {
    static let name = "exports"
    private static let largestRecord = 64 << 10

    let recording: String
    /// The recording's folder.
    let recordingPath: String

    private var path: String { "\(recordingPath)/\(Self.name)" }
    private func record(of id: String) -> String { "\(path)/\(id).json" }
    func film(of id: String) -> String { "\(path)/\(id).mp4" }

    /// A new id: a name of a file without any of people.
    static func makeID() -> String {
        var generator = SystemRandomNumberGenerator()
        return "film-" + .randomID(length: 8, using: &generator)
    }

    private static func isID(_ text: String) -> Bool {
        text.hasPrefix("film-") && text.utf8.count == 13
            && text.dropFirst(5).utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x32...0x39).contains($0) }
    }

    func save(_ export: RecordingExport) throws {
        // Only beside the recording: one that is deleted meanwhile does not come back.
        if !FileManager.default.fileExists(atPath: path) {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        }
        let json = try JSONEncoder.readable.encode(export)
        try json.write(to: URL(fileURLWithPath: record(of: export.id)), options: .atomic)
        try Self.makePrivate(record(of: export.id))
    }

    /// Lets only the relay's user read a film that is made, and what lies beside it.
    func protect(_ id: String) throws {
        let files = ExportSession.files(of: film(of: id))
        for file in [files.film, files.captions, files.poster] where FileManager.default.fileExists(atPath: file) {
            try Self.makePrivate(file)
        }
    }

    private static func makePrivate(_ file: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
    }

    func load(_ id: String) -> RecordingExport? {
        guard Self.isID(id),
            let size = try? FileManager.default.attributesOfItem(atPath: record(of: id))[.size] as? Int,
            size <= Self.largestRecord, let data = FileManager.default.contents(atPath: record(of: id)),
            let export = try? JSONDecoder().decode(RecordingExport.self, from: data), export.id == id,
            export.recording == recording
        else { return nil }
        return export
    }

    /// True if a film was asked for and not removed.
    func hasRecord(of id: String) -> Bool { FileManager.default.fileExists(atPath: record(of: id)) }

    /// All films, the newest first.
    func all() -> [RecordingExport] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        let found = names.filter { $0.hasSuffix(".json") }.map { String($0.dropLast(5)) }.compactMap { id in
            load(id).map { ($0, date(of: id)) }
        }
        return found.sorted { ($0.1, $0.0.id) > ($1.1, $1.0.id) }.map(\.0)
    }

    private func date(of id: String) -> Date {
        (try? FileManager.default.attributesOfItem(atPath: record(of: id))[.modificationDate] as? Date)
            ?? .distantPast
    }

    /// The film's size and the paths of its files in the recording's folder, of those that are there.
    func result(of id: String) -> (size: Int, files: [String]) {
        let files = ExportSession.files(of: film(of: id))
        let made = [files.film, files.captions, files.poster].filter { FileManager.default.fileExists(atPath: $0) }
        let size = try? FileManager.default.attributesOfItem(atPath: files.film)[.size] as? Int
        return (size ?? 0, made.map { String($0.dropFirst(recordingPath.count + 1)) })
    }

    /// Removes the unfinished work of a film that nobody resumes.
    func removeWork(of id: String) {
        try? FileManager.default.removeItem(atPath: ExportSession.workFolder(of: film(of: id)))
    }

    /// Removes a film, what there is of it, and its record.
    func remove(_ id: String) throws {
        let files = ExportSession.files(of: film(of: id))
        let parts = [
            files.film, files.captions, files.poster, ExportSession.workFolder(of: files.film), record(of: id),
        ]
        for part in parts where FileManager.default.fileExists(atPath: part) {
            try FileManager.default.removeItem(atPath: part)
        }
    }
}
