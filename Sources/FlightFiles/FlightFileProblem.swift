/// A failure that leaves a recording's file missing or incomplete.
public enum FlightFileProblem: Error, Hashable, Sendable {
    case cannotCreate(path: String, reason: String)
    /// All files for which the folder has room are still being written.
    case tooManyFiles(path: String, limit: Int)
    /// A write failed. The part written before it is usable.
    case cannotWrite(path: String, reason: String)
    /// The disk was too slow, and the recording ended early. `lostRecords` were not written.
    case fellBehind(path: String, lostRecords: Int)
}

extension FlightFileProblem: CustomStringConvertible {
    public var description: String {
        switch self {
        case .cannotCreate(let path, let reason): "cannot create the flight recording \(path): \(reason)"
        case .tooManyFiles(let path, let limit):
            "the flight recording \(path) is not made: \(limit) others are being written, which is the limit"
        case .cannotWrite(let path, let reason): "cannot write on to the flight recording \(path): \(reason)"
        case .fellBehind(let path, let lostRecords):
            "the flight recording \(path) ends early: the disk was too slow, and \(lostRecords) records found no room"
        }
    }
}
