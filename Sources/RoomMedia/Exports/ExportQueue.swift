import Foundation
import Glibc
import Logging
import MediaCore
import MediaFiles
package import RoomAPI

/// The films that a relay makes of its recordings: one at a time, at the lowest priority, and none while calls need the
/// machine.
///
/// What a relay that was killed left undone goes on when it is started again. Methods wait for the disk: they are not
/// for the relay's loop. A lock guards the state, and one thread works while there is something to do.
package final class ExportQueue: @unchecked Sendable {
    // `@unchecked`: `queue`, `unresumed`, `current` and the flags are touched while `condition` is locked, and by
    // nothing else.

    /// The most films that wait; those that an earlier relay left may be more by the films of one recording.
    package static let capacity = 16
    /// Films that an earlier relay left are taken up while fewer wait: the other places are for new ones.
    private static let placesForOld = capacity / 2
    /// How many films of a recording are kept at most.
    package static let mostPerRecording = 32
    /// How long a thread that is told to stop may take.
    private static let patience = Duration.seconds(10)
    /// The lowest priority of a thread: films take only the time that calls leave.
    private static let usualPriority: Int32 = 19

    package enum Refusal: Error, Equatable {
        case queueFull
        case tooManyFilms
        case failed(reason: String)
    }

    private struct Job: Hashable {
        var recording: String
        var id: String
    }

    private struct Current {
        var job: Job
        var export: RecordingExport
        var isCancelled = false
        /// Signalled when the job has ended: one for each caller that waits for it.
        var ends: [TimedSemaphore] = []
    }

    private let path: @Sendable (_ recording: String) -> String
    private let checkSpace: @Sendable () throws -> Void
    private let priority: Int32
    private let condition = NSCondition()
    private var logger = Logger(label: "confrelay.exports")
    private var queue: [Job] = []
    /// Recordings that may have undone films of an earlier relay, which nobody has looked for yet.
    private var unresumed: ArraySlice<String> = []
    private var current: Current?
    private var hasThread = false
    private var isLoadHigh = false
    private var isClosed = false

    /// - Parameters:
    ///   - path: The folder of a recording.
    ///   - checkSpace: Throws where a film would take space that recordings need.
    ///   - priority: The priority of the thread (`setpriority(2)`).
    init(
        path: @escaping @Sendable (_ recording: String) -> String,
        checkSpace: @escaping @Sendable () throws -> Void = {}, priority: Int32 = usualPriority
    ) {
        self.path = path
        self.checkSpace = checkSpace
        self.priority = priority
    }

    private func folder(_ recording: String) -> ExportFolder {
        ExportFolder(recording: recording, recordingPath: path(recording))
    }

    // MARK: Asking for films

    /// Asks for a film of a recording that is there and has ended.
    package func add(_ request: ExportRequest, recording: String) throws(Refusal) -> RecordingExport {
        let folder = folder(recording)
        let export = RecordingExport(
            id: ExportFolder.makeID(), recording: recording, state: .queued, request: request)
        condition.lock()
        defer { condition.unlock() }
        guard folder.all().count < Self.mostPerRecording else { throw .tooManyFilms }
        guard queue.count < Self.capacity, !isClosed else { throw .queueFull }
        do {
            try folder.save(export)
        } catch {
            throw .failed(reason: OutputFile.reason(error))
        }
        enqueue(Job(recording: recording, id: export.id))
        return export
    }

    /// Goes on with what a relay that ended before has left undone, as places come free.
    func resume(_ recordings: [String], logger: Logger) {
        condition.lock()
        defer { condition.unlock() }
        self.logger = logger
        unresumed = recordings[...]
        startThread()
    }

    /// Queues the undone films of further recordings if there are places. On the thread.
    private func takeUp() {
        while let recording = nextUnresumed() {
            let undone = folder(recording).all().filter(\.isUndone).map { Job(recording: recording, id: $0.id) }
            condition.lock()
            defer { condition.unlock() }
            guard !isClosed else { return }
            // Those that were asked for since the start are in the queue already.
            for job in undone where job != current?.job && !queue.contains(job) { enqueue(job) }
        }
    }

    private func nextUnresumed() -> String? {
        condition.lock()
        defer { condition.unlock() }
        return isClosed || queue.count >= Self.placesForOld ? nil : unresumed.popFirst()
    }

    /// With `condition` locked.
    private func enqueue(_ job: Job) {
        queue.append(job)
        startThread()
    }

    /// With `condition` locked.
    private func startThread() {
        guard !hasThread else { return }
        hasThread = true
        Thread.detach(named: "exports") { [self] in work() }
    }

    // MARK: Looking

    /// Whether there is anything to do.
    package var isBusy: Bool {
        condition.lock()
        defer { condition.unlock() }
        return hasThread
    }

    package func export(_ id: String, recording: String) -> RecordingExport? {
        folder(recording).load(id).map(present)
    }

    /// A recording's films, the newest first.
    package func exports(recording: String) -> [RecordingExport] { folder(recording).all().map(present) }

    /// A film as it stands now.
    private func present(_ stored: RecordingExport) -> RecordingExport {
        condition.lock()
        defer { condition.unlock() }
        guard let current, current.job == Job(recording: stored.recording, id: stored.id) else { return stored }
        return current.export
    }

    // MARK: Ending

    /// Ends the making of a film, or removes one that is made.
    ///
    /// - Returns: False if there is none of this id.
    package func remove(_ id: String, recording: String) throws -> Bool {
        let folder = folder(recording)
        guard folder.load(id) != nil else { return false }
        leave { $0 == Job(recording: recording, id: id) }
        // The thread, if the wait for it was too long, must not write the record anew meanwhile.
        condition.lock()
        defer { condition.unlock() }
        try folder.remove(id)
        return true
    }

    /// Ends the making of all films of a recording, which is going to be deleted.
    func removeAll(recording: String) { leave { $0.recording == recording } }

    /// Ends what is being made. It goes on when the relay is started again.
    package func close() {
        condition.lock()
        isClosed = true
        queue = []
        condition.unlock()
        leave { _ in true }
    }

    /// Takes jobs out of the queue, and waits until none of them is being done.
    private func leave(_ jobs: (Job) -> Bool) {
        let limit = MonotonicInstant.now() + Self.patience
        while let end = cancel(jobs), end.wait(until: limit) {}
    }

    /// Takes jobs out of the queue, and stops the running job if it is one of them.
    ///
    /// - Returns: A semaphore that the running job signals at its end; nil if no job had to be stopped.
    private func cancel(_ jobs: (Job) -> Bool) -> TimedSemaphore? {
        condition.lock()
        defer { condition.unlock() }
        queue.removeAll(where: jobs)
        guard let job = current?.job, jobs(job) else { return nil }
        let end = TimedSemaphore()
        current?.isCancelled = true
        current?.ends.append(end)
        condition.broadcast()
        return end
    }

    // MARK: Load

    /// Tells whether calls need the machine.
    package func setLoad(isHigh: Bool) {
        condition.lock()
        defer { condition.unlock() }
        guard isHigh != isLoadHigh else { return }
        isLoadHigh = isHigh
        if current != nil { current?.export.state = isHigh ? .paused : .running }
        condition.broadcast()
    }

    // MARK: The thread

    private func work() {
        // On Linux a priority belongs to a thread, and those that x264 starts inherit it.
        setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, priority)
        while let job = next() {
            let folder = folder(job.recording)
            let outcome = Result { try make(job, in: folder) }
            finish(job, outcome, in: folder)
            // Not here: this thread gets little time, and allocations of others would wait for it.
            Task.detached { ProcessMemory.returnFree() }
        }
    }

    private func next() -> Job? {
        while true {
            takeUp()
            condition.lock()
            defer { condition.unlock() }
            while !queue.isEmpty {
                let job = queue.removeFirst()
                guard var export = folder(job.recording).load(job.id), export.isUndone else { continue }
                export.state = isLoadHigh ? .paused : .running
                current = Current(job: job, export: export)
                return job
            }
            guard unresumed.isEmpty || isClosed else { continue }
            hasThread = false
            return nil
        }
    }

    private func make(_ job: Job, in folder: ExportFolder) throws {
        guard let request = folder.load(job.id)?.request else { throw ExportError.cancelled }
        let options = try FilmOptions(request)
        let film = try RecordingFilm(
            path: folder.recordingPath, canvas: options.canvas, frameRate: options.frameRate, layout: options.layout)
        let session = ExportSession(source: film, settings: options.settings, path: folder.film(of: job.id))
        var shortage: (any Error)?
        func isCancelled() -> Bool {
            if waitWhileLoadIsHigh() { return true }
            do {
                try checkSpace()
                return false
            } catch {
                shortage = error
                return true
            }
        }
        do {
            try session.run(isCancelled: isCancelled, onProgress: show)
        } catch {
            throw shortage ?? error
        }
        try folder.protect(job.id)
    }

    /// Waits while calls need the machine.
    ///
    /// - Returns: Whether the film is not wanted any more.
    private func waitWhileLoadIsHigh() -> Bool {
        condition.lock()
        defer { condition.unlock() }
        while isLoadHigh, current?.isCancelled == false { condition.wait() }
        return current?.isCancelled ?? true
    }

    private func show(_ progress: ExportProgress) {
        condition.lock()
        defer { condition.unlock() }
        current?.export.pass = progress.pass
        current?.export.progress = progress.fraction
        current?.export.remaining = progress.remaining?.seconds
        current?.export.estimatedSize = progress.estimatedOutputSize?.bytes
    }

    private func finish(_ job: Job, _ outcome: Result<Void, any Error>, in folder: ExportFolder) {
        condition.lock()
        defer { condition.unlock() }
        let isCancelled = current?.isCancelled ?? true
        if var export = folder.load(job.id) {
            switch outcome {
            case .success:
                export.state = .complete
                (export.size, export.files) = folder.result(of: job.id)
                logger.notice("film made", metadata: ["recording": "\(job.recording)", "film": "\(job.id)"])
            case .failure(let error) where !isCancelled:
                // The disk may be full of it.
                folder.removeWork(of: job.id)
                export.state = .failed
                export.error = "\(error)"
                logger.error(
                    "a film cannot be made: \(error)", metadata: ["recording": "\(job.recording)", "film": "\(job.id)"])
            // Whoever cancelled it removes what there is; a relay that ends leaves it for the next one.
            case .failure: break
            }
            try? folder.save(export)
        } else if !folder.hasRecord(of: job.id) {
            // The request that removed it did not wait any longer for this thread.
            try? folder.remove(job.id)
        }
        for end in current?.ends ?? [] { end.signal() }
        current = nil
    }
}

extension RecordingExport {
    /// True if the film is still to be made.
    fileprivate var isUndone: Bool { state != .complete && state != .failed }
}
