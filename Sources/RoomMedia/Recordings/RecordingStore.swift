package import Foundation
package import Logging
import MediaCore
import MediaFiles
package import RoomAPI
import Synchronization

/// The folder of a relay's recordings: finds, lists and deletes them.
package final class RecordingStore: Sendable {
    package let settings: RecordingSettings
    /// The films that are made of recordings.
    package let exports: ExportQueue
    /// The recordings that are being written, as they began: a writer may not have got to the disk yet.
    private let active = Mutex<[String: RecordingManifest]>([:])
    private let manifests: ManifestCache

    /// No more recordings are listed than this, the newest.
    static let maximumListed = 1000

    /// Makes the folder if it is not there, and sees that it can be written to.
    ///
    /// - Parameter readManifest: Reads a whole file; tests count its calls.
    package init(
        settings: RecordingSettings,
        readManifest: @escaping @Sendable (_ path: String) -> Data? = { FileManager.default.contents(atPath: $0) }
    ) throws(WritablePath.NotUsable) {
        self.settings = settings
        manifests = ManifestCache(read: readManifest)
        exports = ExportQueue(
            path: { "\(settings.folder)/\($0)" },
            checkSpace: {
                // A film can be made again, and a call cannot: it ends before recordings have to.
                try SystemRecordingFiles().checkSpace(
                    in: settings.folder, keeping: settings.minimumFreeSpace + settings.minimumFreeSpace)
            })
        try WritablePath.makeFolder(settings.folder)
    }

    package func path(of id: String) -> String { "\(settings.folder)/\(id)" }

    /// A recording is being written from now on.
    package func begin(_ manifest: RecordingManifest) { active.withLock { $0[manifest.id] = manifest } }

    /// All that there is of a recording is written.
    package func end(_ id: String) { active.withLock { $0[id] = nil } }

    /// An id that sorts by time, and is the name of the recording's folder. Names of people and rooms are not in it.
    package static func makeID(at date: Date, using generator: inout some RandomNumberGenerator) -> String {
        let time = date.formatted(
            .iso8601.year().month().day().dateSeparator(.omitted).time(includingFractionalSeconds: false)
                .timeSeparator(.omitted))
        return "\(time)Z-" + .randomID(length: 6, using: &generator)
    }

    /// True if a text can be an id, or a file's name without its ending: nothing else is looked for on the disk.
    static func isID(_ text: String) -> Bool {
        text.utf8.count <= 64 && !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    // MARK: Looking. Reads the disk: not for the relay's loop.

    /// Throws where a recording would end at once for want of space.
    package func checkSpace() throws(RecordingFileError) {
        try SystemRecordingFiles().checkSpace(in: settings.folder, keeping: settings.minimumFreeSpace)
    }

    /// What is known of a recording; nil if there is none of this id.
    package func recording(_ id: String) -> RecordingDescription? {
        guard Self.isID(id) else { return nil }
        // Looked at before the disk: one that ends in between would seem interrupted.
        let begun = active.withLock { $0[id] }
        guard var description = written(id) ?? begun.map({ RecordingDescription($0, state: .recording) }) else {
            return nil
        }
        if begun != nil { description.state = .recording }
        return description
    }

    /// A file of a recording, as it is now.
    package struct File: Sendable {
        package var path: String
        package var size: Int
        /// Another one for other bytes (RFC 9110 8.8.3).
        package var entityTag: String
    }

    /// A file of a recording; nil if it is not there.
    package func file(_ path: RecordedFilePath, ofRecording id: String) -> File? {
        guard Self.isID(id) else { return nil }
        let path = "\(self.path(of: id))/\(path.text)"
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            attributes[.type] as? FileAttributeType == .typeRegular, let size = attributes[.size] as? Int,
            let date = attributes[.modificationDate] as? Date
        else { return nil }
        return File(path: path, size: size, entityTag: "\"\(size)-\(date.timeIntervalSince1970)\"")
    }

    private func manifestPath(of id: String) -> String { "\(path(of: id))/\(RecordingManifest.fileName)" }

    /// True if there is a recording of this id, even one whose manifest cannot be read.
    private func isRecording(_ id: String) -> Bool {
        Self.isID(id) && FileManager.default.fileExists(atPath: manifestPath(of: id))
    }

    /// What a recording's manifest says.
    private func written(_ id: String) -> RecordingDescription? {
        manifests.description(of: id, manifest: manifestPath(of: id))
    }

    /// The names in the folder; the newest recording first.
    private func namesInFolder() -> [String] {
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: settings.folder)) ?? []).sorted(by: >)
        manifests.keepFirst(of: names)
        return names
    }

    /// The recordings of a room, or of all rooms; the newest first.
    package func recordings(ofRoom room: String? = nil) -> [RecordingDescription] {
        let names = Set(namesInFolder()).union(active.withLock { Array($0.keys) })
        var found: [RecordingDescription] = []
        for name in names.sorted(by: >) where found.count < Self.maximumListed {
            if let recording = recording(name), recording.room == room ?? recording.room { found.append(recording) }
        }
        return found
    }

    /// Goes on with the films that a relay that ended before has left undone.
    package func resumeExports(logger: Logger) {
        exports.resume(namesInFolder().filter(Self.isID).reversed(), logger: logger)
    }

    // MARK: Deleting

    package enum Deletion: Equatable {
        case deleted, noSuchRecording, isActive
        case failed(String)
    }

    /// Deletes a recording with all its files, and ends the making of films of it.
    package func delete(_ id: String) -> Deletion {
        guard active.withLock({ $0[id] == nil }) else { return .isActive }
        guard isRecording(id) else { return .noSuchRecording }
        exports.removeAll(recording: id)
        do {
            try FileManager.default.removeItem(atPath: path(of: id))
            return .deleted
        } catch {
            return .failed(OutputFile.reason(error))
        }
    }

    /// Deletes the recordings that ended longer ago than the settings have them kept. Returns their ids.
    package func deleteExpired(now: Date) -> [String] {
        guard let keep = settings.keep else { return [] }
        return namesInFolder().filter { name in
            guard isRecording(name) else { return false }
            // A recording that was interrupted, or is damaged, ended when something was last written.
            let timeline = "\(path(of: name))/\(RecordingManifest.timelineName)"
            let lastWrite = try? FileManager.default.attributesOfItem(atPath: timeline)[.modificationDate] as? Date
            let end = written(name)?.ended.flatMap { try? Date($0, strategy: .iso8601) } ?? lastWrite
            guard let end, now.timeIntervalSince(end) > keep.seconds else { return false }
            return delete(name) == .deleted
        }
    }
}
