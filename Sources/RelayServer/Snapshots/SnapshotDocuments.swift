import NIOCore
import Synchronization

/// A snapshot and the documents that requests asked for, each of which is encoded once.
final class SnapshotDocuments<Snapshot: Sendable>: Sendable {
    let snapshot: Snapshot
    private let documents = Mutex<[String: ByteBuffer]>([:])

    init(_ snapshot: Snapshot) {
        self.snapshot = snapshot
    }

    /// A document of the snapshot. Requests that come while it is encoded wait for it, since they want the same.
    ///
    /// - Parameter name: Names the document; there must be a bounded number of names.
    func document(_ name: String, encode: (Snapshot) throws -> ByteBuffer) rethrows -> ByteBuffer {
        try documents.withLock { documents in
            if let document = documents[name] { return document }
            let document = try encode(snapshot)
            documents[name] = document
            return document
        }
    }
}
