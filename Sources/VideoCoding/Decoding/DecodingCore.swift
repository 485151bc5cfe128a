import DequeModule
import Dispatch
import Glibc
import MediaCore
import Synchronization

/// The state that a decompression session and its queue share: the decoder behind a lock, and the waiting frames.
///
/// The holder of the lock empties the inbox before its own work, so that frames are decoded in order. The output
/// handler runs under the lock; its requests go into the inbox.
final class DecodingCore: Sendable {
    private enum Operation {
        case decode(SampleBuffer, FrameToken, tookPlace: Bool)
        case setEffort(DecodingEffort)
        case finishDelayedFrames
        case resume(CheckedContinuation<Void, Never>)
    }

    private struct Inbox {
        var operations: Deque<Operation> = []
        /// True if a block on the queue will perform the operations.
        var hasWorker = false
    }

    private let engine: Mutex<DecoderEngine>
    private let inbox = Mutex(Inbox())
    private let gate: PipelineGate
    private let counters: DecodingCounters
    private let queue = DispatchQueue(label: "VideoCoding.DecompressionSession")
    private let outputHandler: @Sendable (DecodeOutput) -> Void
    private let onEnd: @Sendable () -> Void
    /// The thread that has the engine; zero if none has it.
    private let holder = Atomic<UInt>(0)
    private let isInvalidated = Atomic(false)
    private let hasEnded = Atomic(false)

    init(
        format: VideoFormatDescription, attributes: PixelBufferAttributes, limits: DecodingLimits, gate: PipelineGate,
        outputHandler: @escaping @Sendable (DecodeOutput) -> Void, onEnd: @escaping @Sendable () -> Void
    ) throws(VideoCodingError) {
        counters = DecodingCounters()
        engine = Mutex(
            try DecoderEngine(format: format, attributes: attributes, limits: limits, counters: counters))
        self.gate = gate
        self.outputHandler = outputHandler
        self.onEnd = onEnd
    }

    var statistics: DecodingStatistics { counters.statistics }

    /// Decodes a frame on this thread. Called by the output handler, the frame is decoded after the handler returns.
    func decode(_ sample: SampleBuffer, token: FrameToken) {
        if isHeldHere { return push(.decode(sample, token, tookPlace: false)) }
        withEngine { engine in
            performWaiting(&engine)
            decode(sample, token: token, with: &engine)
        }
    }

    /// Hands a frame over; blocks while the pipeline is full.
    func enqueue(_ sample: SampleBuffer, token: FrameToken) {
        // The handler cannot wait for itself.
        if isHeldHere { gate.squeezeIn() } else { gate.enter() }
        push(.decode(sample, token, tookPlace: true))
    }

    /// Hands a frame over; suspends while the pipeline is full.
    func enqueueOrSuspend(_ sample: SampleBuffer, token: FrameToken) async {
        await gate.enterOrSuspend()
        push(.decode(sample, token, tookPlace: true))
    }

    func waitForFrames() async {
        await withCheckedContinuation { push(.resume($0)) }
    }

    /// Decodes all waiting frames on this thread.
    func finishFrames() {
        guard !isHeldHere else { return }
        withEngine { performWaiting(&$0) }
    }

    func setEffort(_ effort: DecodingEffort) {
        if isHeldHere { return push(.setEffort(effort)) }
        withEngine { engine in
            performWaiting(&engine)
            engine.effort = effort
        }
    }

    func finishDelayedFrames() {
        if isHeldHere { return push(.finishDelayedFrames) }
        withEngine { engine in
            performWaiting(&engine)
            engine.finish(outputHandler)
        }
    }

    /// Answers everything that is owed; when the handler calls, as soon as it has returned.
    func invalidate() {
        guard !isInvalidated.exchange(true, ordering: .sequentiallyConsistent) else { return }
        gate.open()
        if !isHeldHere { withEngine { _ in } }
    }

    private var isHeldHere: Bool { holder.load(ordering: .relaxed) == Self.thread }

    private static var thread: UInt { UInt(pthread_self()) }

    /// Runs `body` with the engine, then the requests that the output handler made.
    private func withEngine(_ body: (inout DecoderEngine) -> Void) {
        engine.withLock { engine in
            holder.store(Self.thread, ordering: .relaxed)
            defer { holder.store(0, ordering: .relaxed) }
            body(&engine)
            performWaiting(&engine)
            guard isInvalidated.load(ordering: .sequentiallyConsistent) else { return }
            guard !hasEnded.exchange(true, ordering: .relaxed) else { return }
            engine.abandon(outputHandler)
            onEnd()
        }
    }

    private func push(_ operation: sending Operation) {
        let needsWorker = inbox.withLock { inbox in
            inbox.operations.append(operation)
            defer { inbox.hasWorker = true }
            return !inbox.hasWorker
        }
        if needsWorker { queue.async { [self] in work() } }
    }

    private func work() {
        var hasMore = true
        while hasMore {
            withEngine { performNext(&$0) }
            hasMore = inbox.withLock { inbox in
                inbox.hasWorker = !inbox.operations.isEmpty
                return inbox.hasWorker
            }
        }
    }

    /// Performs the operations that are in the inbox now; later ones are left to the worker.
    private func performWaiting(_ engine: inout DecoderEngine) {
        for _ in 0..<inbox.withLock({ $0.operations.count }) { performNext(&engine) }
    }

    private func performNext(_ engine: inout DecoderEngine) {
        switch inbox.withLock({ $0.operations.popFirst() }) {
        case .decode(let sample, let token, let tookPlace):
            decode(sample, token: token, with: &engine)
            if tookPlace { gate.leave() }
        case .setEffort(let effort): engine.effort = effort
        case .finishDelayedFrames: engine.finish(outputHandler)
        case .resume(let continuation): continuation.resume()
        case nil: break
        }
    }

    private func decode(_ sample: SampleBuffer, token: FrameToken, with engine: inout DecoderEngine) {
        if isInvalidated.load(ordering: .sequentiallyConsistent) {
            engine.answer(sample, token, .dropped(.sessionInvalidated), outputHandler)
        } else {
            engine.push(sample, token: token, outputHandler)
        }
    }
}
