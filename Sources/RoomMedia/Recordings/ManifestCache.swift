import Foundation
import Glibc
import RoomAPI
import Synchronization

/// What the manifests of recordings say. A manifest is decoded once, and again when its file has changed.
///
/// Methods wait for the disk.
final class ManifestCache: Sendable {
    /// A version of a file, known without reading it. A file that takes another's place has another number.
    private struct FileVersion: Equatable {
        var device: dev_t
        var number: ino_t
        var size: off_t
        var changedSeconds: time_t
        var changedNanoseconds: Int

        init?(path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            device = status.st_dev
            number = status.st_ino
            size = status.st_size
            changedSeconds = status.st_ctim.tv_sec
            changedNanoseconds = status.st_ctim.tv_nsec
        }
    }

    private struct Entry {
        var version: FileVersion
        /// Nil if the manifest cannot be read: a large one that is damaged is not decoded again and again either.
        var description: RecordingDescription?
    }

    /// That of some 190,000 files.
    private static let maximumManifestSize: off_t = 64 << 20

    private let capacity: Int
    private let read: @Sendable (_ path: String) -> Data?
    private let entries = Mutex<[String: Entry]>([:])

    /// - Parameters:
    ///   - capacity: The recordings that are known at most, of 400 bytes each. The manifests of others are decoded
    ///     each time.
    ///   - read: Reads a whole file.
    init(capacity: Int = 10_000, read: @escaping @Sendable (_ path: String) -> Data?) {
        self.capacity = capacity
        self.read = read
    }

    /// What a recording's manifest says; nil if it is not there, or cannot be read.
    func description(of id: String, manifest path: String) -> RecordingDescription? {
        // Before the file is read: a change in between shows at the next look.
        guard let version = FileVersion(path: path), version.size <= Self.maximumManifestSize else { return nil }
        if let known = entries.withLock({ $0[id] }), known.version == version { return known.description }
        let manifest = read(path).flatMap { try? JSONDecoder().decode(RecordingManifest.self, from: $0) }
        let description = manifest.map {
            RecordingDescription($0, state: $0.ended == nil ? .interrupted : .complete)
        }
        entries.withLock { entries in
            guard entries[id] != nil || entries.count < capacity else { return }
            entries[id] = Entry(version: version, description: description)
        }
        return description
    }

    /// Forgets all recordings but the first of these, of which there may be more than it knows.
    func keepFirst(of ids: [String]) {
        let kept = Set(ids.prefix(capacity))
        entries.withLock { entries in entries = entries.filter { kept.contains($0.key) } }
    }
}
