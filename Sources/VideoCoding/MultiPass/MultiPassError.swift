public import MediaCore

/// The reason for which a silo, a storage or a pass failed.
public enum MultiPassError: Error, Hashable, Sendable {
    /// The system refused an operation on a file.
    case systemFailure(path: String, operation: String, reason: String)
    /// Another silo or storage, of this process or another, has the file open.
    case inUse(path: String)
    /// The file is something else than was expected.
    case wrongKind(path: String, expected: String)
    /// The file was written in a form that this version does not read.
    case unsupportedVersion(path: String, version: Int)
    /// The file's content is damaged.
    case corrupt(path: String, offset: Int, reason: String)
    /// The silo or storage has been closed.
    case closed
    /// The storage holds the passes of a session with another value of a property.
    case mismatch(property: String, stored: String, given: String)
    /// The time of a sample or a range cannot be compared.
    case invalidTime(MediaTime)
    /// The time ranges are not in ascending order, overlap, or are of no numeric time.
    case invalidTimeRanges
    /// The frame is in none of the time ranges that the pass is for.
    case outsideTimeRanges(MediaTime)
    /// Frames of the pass were missing; the time is that of the first one.
    case framesMissing(count: Int, first: MediaTime)
    /// There is no pass to end, or to encode in.
    case noPass
    /// A pass has begun and not ended.
    case passNotEnded
    /// The last pass asked for no other.
    case noFurtherPassRequested
}

extension MultiPassError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .systemFailure(let path, let operation, let reason): "\(path): cannot \(operation): \(reason)"
        case .inUse(let path): "\(path) is in use; close it where it is open, or take another file"
        case .wrongKind(let path, let expected): "\(path) is no \(expected); take another file, or a path without one"
        case .unsupportedVersion(let path, let version):
            "\(path) has version \(version), which is not known here; remove it and start again"
        case .corrupt(let path, let offset, let reason):
            "\(path) is damaged at byte \(offset) (\(reason)); remove it and start again"
        case .closed: "the file has been closed; open it again"
        case .mismatch(let property, let stored, let given):
            "the storage is of other passes: its \(property) is \(stored), here it is \(given); go on with the same "
                + "settings and frames, or take a new storage"
        case .invalidTime(let time): "\(time) is no time that frames can be ordered by"
        case .invalidTimeRanges: "the time ranges must be numeric, in ascending order and must not overlap"
        case .outsideTimeRanges(let time): "the frame at \(time) is outside the time ranges of this pass"
        case .framesMissing(let count, let first):
            "\(count) frames that the pass asked for are missing, the first at \(first); give it all frames of its "
                + "time ranges"
        case .noPass: "no pass has been begun; call beginPass first"
        case .passNotEnded: "a pass has been begun already; call endPass first"
        case .noFurtherPassRequested: "the encoder asked for no further pass"
        }
    }
}
