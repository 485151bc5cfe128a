import Dispatch
public import FlightRecording
import Glibc
public import MediaCore

/// Writes all recordings to files, on one queue of its own.
///
/// The recording threads only touch the ring of their recording. The queue drains the rings several times a second, so
/// a crash loses at most that much of each recording, and a slow disk delays no other thread.
///
/// `@unchecked Sendable` holds because all mutable state is used only in blocks on the serial queue `queue`.
public final class FlightFileWriter: @unchecked Sendable {
    /// The way a path is opened.
    public enum Opening: Sendable {
        /// Creates the file; fails if it exists.
        case create
        /// Creates the file, or replaces its contents.
        case replace

        var flags: CInt {
            switch self {
            case .create: O_CREAT | O_EXCL | O_NOFOLLOW
            case .replace: O_CREAT | O_TRUNC
            }
        }
    }

    private struct File {
        var path: String
        var ring: FlightRing
        var descriptor: CInt
    }

    private let queue = DispatchQueue(label: "flight-recorder", qos: .utility)
    private let interval: Duration
    private let capacity: DataSize
    private let retention: FlightFileRetention?
    private let onProblem: @Sendable (FlightFileProblem) -> Void
    private var firstProblem: FlightFileProblem?
    private var files: [File] = []
    private var isScheduled = false
    private var isShutDown = false

    /// - Parameters:
    ///   - interval: The time between two drains of the rings.
    ///   - capacity: The size of each recording's ring.
    ///   - retention: The limit of files in a folder; nil for no limit.
    ///   - onProblem: Called for each failure, on a queue of the writer.
    public init(
        interval: Duration = .milliseconds(100), capacity: DataSize = FlightRing.defaultCapacity,
        retention: FlightFileRetention? = nil,
        onProblem: @escaping @Sendable (FlightFileProblem) -> Void = { _ in }
    ) {
        self.interval = interval
        self.capacity = capacity
        self.retention = retention
        self.onProblem = onProblem
    }

    /// Returns a sink for one recorder, whose bytes go to a new file. Neither the sink nor this call waits for the
    /// disk.
    public func makeSink(path: String, opening: Opening) -> FlightRing {
        let ring = FlightRing(capacity: capacity)
        queue.async { self.open(path, opening, ring) }
        return ring
    }

    /// Writes the records so far, ends all files and returns after they are closed.
    ///
    /// - Returns: The first failure of the writer, if there was one.
    @discardableResult
    public func shutDown() async -> FlightFileProblem? {
        await withCheckedContinuation { continuation in
            queue.async {
                self.isShutDown = true
                self.drain()
                continuation.resume(returning: self.firstProblem)
            }
        }
    }

    // MARK: On the queue

    private func open(_ path: String, _ opening: Opening, _ ring: FlightRing) {
        guard !isShutDown else {
            ring.abandon()
            return
        }
        if let retention, !retention.makeRoom(besides: Set(files.map(\.path))) {
            ring.abandon()
            report(.tooManyFiles(path: path, limit: retention.maximumCount))
            return
        }
        // Mode 0600: names, rooms and the times of calls are private.
        let descriptor = Glibc.open(path, O_WRONLY | O_CLOEXEC | opening.flags, 0o600)
        guard descriptor >= 0 else {
            ring.abandon()
            report(.cannotCreate(path: path, reason: Self.reason(errno)))
            return
        }
        files.append(File(path: path, ring: ring, descriptor: descriptor))
        schedule()
    }

    private func report(_ problem: FlightFileProblem) {
        firstProblem = firstProblem ?? problem
        onProblem(problem)
    }

    private func schedule() {
        guard !isScheduled, !files.isEmpty, !isShutDown else { return }
        isScheduled = true
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(interval.nanoseconds))) {
            self.isScheduled = false
            self.drain()
            self.schedule()
        }
    }

    /// Writes the waiting bytes of each ring, and closes the files of finished recordings.
    private func drain() {
        files.removeAll { file in
            var failure: CInt = 0
            let state = file.ring.drain { bytes in
                if failure == 0 { failure = bytes.writeAll(to: file.descriptor).failure }
            }
            var end: [UInt8] = []
            switch state {
            case .open:
                if isShutDown { end = FlightEncoder.endRecord(.closed) }
            case .closed: break
            case .overrun(let lostRecords):
                end = FlightEncoder.endRecord(.overrun(lostRecords: lostRecords))
                report(.fellBehind(path: file.path, lostRecords: lostRecords))
            }
            if failure == 0 { failure = end.withUnsafeBytes { $0.writeAll(to: file.descriptor).failure } }
            if failure != 0 { report(.cannotWrite(path: file.path, reason: Self.reason(failure))) }
            guard failure != 0 || state != .open || isShutDown else { return false }
            file.ring.abandon()
            close(file.descriptor)
            return true
        }
    }

    private static func reason(_ number: CInt) -> String {
        switch number {
        case ENOENT: "its folder does not exist"
        case EACCES, EPERM: "permission denied"
        case ENOSPC, EDQUOT: "the disk is full"
        case EEXIST: "there is such a file already"
        default: String(cString: strerror(number))
        }
    }
}

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
