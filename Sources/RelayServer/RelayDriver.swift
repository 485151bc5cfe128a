import Conference
import Foundation
import LinkEmulation
import MediaCore
import NIOCore
import PeerConnection
import RoomAPI
import RoomMedia
import SecureTransport

/// Drives a relay on one event loop: passes it datagrams, results and the time, and performs its requests.
///
/// The actor's executor is the event loop itself. The socket and the timer, which call on that loop already, enter
/// without a hop or a lock; others, such as HTTP requests, `await` their turn.
actor RelayDriver {
    let eventLoop: any EventLoop
    let relay: any RelayCore
    private let workers: WorkerPool<JobQueueID, JobCompletion>
    private let completions: CompletionInbox
    private let now: @Sendable () -> MonotonicInstant
    private let onOverloadEvent: @Sendable (OverloadEvent) -> Void
    private let onNotice: @Sendable (RelayNotice) -> Void
    private let onEvent: (@Sendable (RelayEvent) -> Void)?
    private var eventSource: RelayEventSource
    private var socket: MediaSocket?
    private var downlinks: EmulatedDownlinks?
    private var pace = TurnPace()
    private var timer = DriverTimer()
    /// A job that the pool had no room for.
    private var heldBackJob: Job?
    /// True after `close` was called.
    private(set) var isClosed = false
    private var socketEnd: CheckedContinuation<Void, Never>?
    var feeds = RoomFeedHub()
    private var feedTimer: Scheduled<Void>?
    private(set) var emptyRelay: AsyncStream<Never>.Continuation?
    var occupancyReadings: UInt64 = 0
    private var memory = ProcessMemory()
    /// Takes messages for other relays, on the loop; nil: the relay is in no cluster.
    private var onCascade: (@Sendable (CascadeUpdate) -> Void)?
    /// nil: the relay does not record.
    var recordings: RecordingHub?
    /// nil: the relay does not stream.
    var streams: StreamHub?
    /// nil: the relay sends rooms nowhere.
    var outputs: OutputHub?
    /// nil: the relay plays no films.
    var players: PlayerHub?
    /// The snapshots that answer requests without changes.
    nonisolated let snapshots: PublishedSnapshots

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        eventLoop.executor.asUnownedSerialExecutor()
    }

    /// - Parameters:
    ///   - eventLoop: The loop on which everything happens.
    ///   - workerCount: The number of threads that run the relay's jobs.
    ///   - downlink: The properties of an emulated link to each address; nil for none.
    ///   - onOverloadEvent: Receives the events of overload control, on the loop.
    ///   - onNotice: Receives messages for the log, on the loop.
    ///   - onEvent: Is called on the loop with events for webhooks and the event log; nil if there are none.
    ///   - now: The clock; instants of the event loop's timers must be on it.
    ///   - makeRelay: Makes the relay, which from then on belongs to the loop.
    init(
        eventLoop: any EventLoop, workerCount: Int, downlink: LinkProfile? = nil,
        onOverloadEvent: @escaping @Sendable (OverloadEvent) -> Void = { _ in },
        onNotice: @escaping @Sendable (RelayNotice) -> Void = { _ in },
        onEvent: (@Sendable (RelayEvent) -> Void)? = nil,
        now: @escaping @Sendable () -> MonotonicInstant = { MonotonicInstant.now() },
        makeRelay: @Sendable () -> any RelayCore
    ) {
        let completions = CompletionInbox()
        let snapshots = PublishedSnapshots(eventLoop: eventLoop, now: now)
        self.eventLoop = eventLoop
        self.snapshots = snapshots
        self.now = now
        self.onOverloadEvent = onOverloadEvent
        self.onNotice = onNotice
        self.onEvent = onEvent
        var generator = SystemRandomNumberGenerator()
        eventSource = RelayEventSource(using: &generator)
        self.completions = completions
        downlinks = downlink.map { EmulatedDownlinks(profile: $0, start: now()) }
        relay = makeRelay()
        workers = WorkerPool(threadCount: workerCount, capacity: Self.jobCapacity, now: now) {
            completions.deliver($0)
        }
        completions.setWakeUp { [weak self, eventLoop] in
            guard let self else { return }
            eventLoop.execute { self.assumeIsolated { $0.takeTurn() } }
        }
        snapshots.server.setMake { [weak self] _ in self?.assumeIsolated { $0.report() } }
        snapshots.timelines.setMake { [weak self] room in
            self?.assumeIsolated { $0.relay.timeline(ofRoom: room, now: $0.now()) }
        }
    }

    private static let minimumTimerDelay = Duration.microseconds(100)
    /// Jobs handed to the pool at most; more wait in the relay.
    private static let jobCapacity = 4096

    /// Takes over a bound channel as the media socket and starts to serve.
    func start(mediaChannel: any Channel) throws {
        socket = try MediaSocket.start(mediaChannel, receiver: self)
        settle(now: now())
    }

    /// Hands out messages for other relays, from now on.
    func setCascade(_ onCascade: @escaping @Sendable (CascadeUpdate) -> Void) { self.onCascade = onCascade }

    /// Returns when `close` was called; throws when the socket fails before. Stops if the task is cancelled.
    func waitUntilClosed() async throws {
        if !isClosed, socket != nil {
            await withTaskCancellationHandler {
                await withCheckedContinuation { socketEnd = $0 }
            } onCancel: {
                Task { await self.stop() }
            }
        }
        guard isClosed else { throw RelayServer.ServiceError.mediaSocketFailed }
    }

    /// Takes no more joins.
    ///
    /// - Parameter isMoving: Whether clients are told to go to other relays of the cluster.
    /// - Returns: A stream that ends when there are no participants any more.
    func drain(isMoving: Bool) -> AsyncStream<Never> {
        let (emptied, end) = AsyncStream.makeStream(of: Never.self)
        emptyRelay = end
        beginDraining(isMoving: isMoving)
        if relay.isEmpty || isClosed { end.finish() }
        return emptied
    }

    /// Sends a BYE to everyone and closes the socket.
    func stop() {
        guard !isClosed else { return }
        isClosed = true
        let now = now()
        relay.close(now: now)
        transmit(now: now)
        record(now: now)
        publishNotices(now: now)
        while let event = relay.pollRoomEvent() {
            tell { source, date in source.events(of: event, at: date, now: now) }
            record(event, now: now)
        }
        streams?.endAll()
        feeds.close()
        emptyRelay?.finish()
        feedTimer?.cancel()
        feedTimer = nil
        timer.cancel()
        socket?.close()
        socketEnd?.resume()
        socketEnd = nil
    }

    /// Stops, and waits until all that the driver started has ended. To be called once.
    func close() async {
        stop()
        await waitForThreads()
        await workers.shutDown()
    }

    /// Performs a request on the relay, then the relay's own requests.
    func act<Result, Failure: Error>(
        _ action: (any RelayCore, _ now: MonotonicInstant) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let now = now()
        defer {
            snapshots.server.didChange()
            if !isClosed { settle(now: now) }
        }
        return try action(relay, now)
    }

    /// Lets a request read what the relay knows.
    func ask<Result>(_ question: (any RelayCore) -> Result) -> Result { question(relay) }

    /// The state of the relay, the socket and the workers at this moment.
    func report() -> ServerReport {
        ServerReport(
            relay: relay.snapshot(now: now()),
            socket: socket?.counters ?? MediaSocketCounters(),
            recordings: recordings?.counters,
            streams: streams?.count,
            outputs: outputs?.counters,
            players: players?.totals,
            workers: workers.statistics,
            workerCount: workers.threadCount,
            isServing: socket != nil && !isClosed,
            eventSubscribers: feeds.count,
            eventSubscriberOverruns: feeds.overruns)
    }

    /// Starts to send a room's events and, once a second, the statistics of one participant's media.
    func follow(room: String, participant: String?) throws(RoomFeedError) -> RoomFeed {
        guard !isClosed else { throw .closed }
        let member = participant.flatMap { access(ofRoom: room, participant: $0)?.member }
        let feed = try feeds.follow(
            room, participant: participant, isHidden: member?.grants.isHidden ?? false,
            state: { relay.state(ofRoom: room) }, now: now(),
            onRelease: { [weak self, eventLoop] subscriber in
                eventLoop.execute { [weak self] in self?.assumeIsolated { $0.feeds.remove(subscriber) } }
            })
        armFeedTimer()
        return feed
    }

    // MARK: On the event loop

    /// Performs the relay's requests after an input.
    private func settle(now: MonotonicInstant) {
        transmit(now: now)
        startJobs()
        publishEvents(now: now)
        armTimer()
    }

    private func transmit(now: MonotonicInstant) {
        guard let socket else {
            // Without a socket there is nowhere to send to; the relay must not keep it all the same.
            while relay.pollTransmit(now: now) != nil {}
            return
        }
        while let transmit = relay.pollTransmit(now: now) {
            if downlinks == nil {
                socket.enqueue(transmit.datagram, on: transmit.path)
            } else {
                downlinks?.send(transmit.datagram, on: transmit.path, now: now)
            }
        }
        downlinks?.deliver(now: now) { socket.enqueue($0, on: $1) }
        socket.flush()
        for path in socket.takeFailedPaths() { relay.sendingFailed(on: path, now: now) }
    }

    private func startJobs() {
        guard !isClosed else { return }
        while let job = heldBackJob ?? relay.pollJob() {
            let isTaken = workers.submit(
                WorkerPool.Job(queue: job.queue, deadline: job.deadline, yields: job.yields) { [now] in
                    job.run(clock: now)
                })
            heldBackJob = isTaken ? nil : job
            if !isTaken { return }
        }
    }

    private func publishEvents(now: MonotonicInstant) {
        while let event = relay.pollOverloadEvent() {
            onOverloadEvent(event)
            tell { source, date in source.event(of: event, at: date).map { [$0] } ?? [] }
        }
        publishNotices(now: now)
        while let update = relay.pollCascade(now: now) {
            if let onCascade {
                onCascade(update)
            } else {
                relay.cascadeEnded(update, isDelivered: false, now: now)
            }
        }
        record(now: now)
        if eventSource.isWaiting { tell { source, date in source.dueEvents(at: date, now: now) } }
        while let event = relay.pollRoomEvent() {
            tell { source, date in source.events(of: event, at: date, now: now) }
            feeds.publish(event, now: now)
            record(event, now: now)
            guard case .closed = event.kind else { continue }
            if relay.isEmpty { emptyRelay?.finish() }
            returnMemoryLater(now: now)
        }
    }

    private func publishNotices(now: MonotonicInstant) {
        while let notice = relay.pollNotice() {
            onNotice(notice)
            tell { source, date in source.events(of: notice, at: date, now: now) }
        }
    }

    /// Tells that a join was refused.
    func tellRefusal(_ error: JoinError, of request: JoinRequest) {
        tell { source, date in
            source.event(ofRefusal: error, request: request, at: date, now: now()).map { [$0] } ?? []
        }
    }

    /// Tells that a request was refused, since its sender may not do this.
    func tellRefusal(of request: RelayEvent.RefusedRequest, room: String?, reason: String) {
        tell { source, date in
            source.event(ofRefusal: request, room: room, reason: reason, at: date, now: now()).map { [$0] } ?? []
        }
    }

    private func tell(_ events: (inout RelayEventSource, Date) -> [RelayEvent]) {
        guard let onEvent else { return }
        for event in events(&eventSource, Date()) { onEvent(event) }
    }

    /// Returns an ended room's memory to the system, on another thread.
    private func returnMemoryLater(now: MonotonicInstant) {
        guard !isClosed, let wait = memory.roomEnded(now: now) else { return }
        eventLoop.scheduleTask(in: TimeAmount(wait)) { Task.detached { ProcessMemory.returnFree() } }
    }

    private func armFeedTimer() {
        guard !isClosed, feedTimer == nil, feeds.count > 0 else { return }
        feedTimer = eventLoop.scheduleTask(in: TimeAmount(RoomFeedHub.tickInterval)) { [weak self] in
            self?.assumeIsolated { $0.feedTimerFired() } ?? ()
        }
    }

    private func feedTimerFired() {
        feedTimer = nil
        guard !isClosed else { return }
        let now = now()
        feeds.tick(now: now) { relay.snapshot(room: $0, now: now) }
        armFeedTimer()
    }

    private func armTimer() {
        guard !isClosed else { return }
        let next = nextTurn
        guard next < .distantFuture else { return }
        // A timer that is due at once would run before the socket is read, and again and again would leave no time for
        // it. So the clock is read again: the work since the last reading may have taken longer than the delay.
        let wanted = max(next, now() + Self.minimumTimerDelay)
        timer.set(
            for: wanted, tolerance: pace.isBusy ? TurnPace.interval / 4 : .seconds(3600), on: eventLoop
        ) { Alarm(driver: self, setting: $0) }
    }

    /// Wakes the driver, if it is still there.
    private struct Alarm: NIOScheduledCallbackHandler, Sendable {
        weak let driver: RelayDriver?
        let setting: DriverTimer.Setting

        func handleScheduledCallback(eventLoop: some EventLoop) {
            driver?.assumeIsolated { $0.timerFired(setting) }
        }
    }

    private var nextTurn: MonotonicInstant {
        pace.nextTurn ?? min(relay.nextWakeUp, downlinks?.nextDelivery ?? .distantFuture)
    }

    private func timerFired(_ setting: DriverTimer.Setting) {
        guard timer.fired(setting) else { return }
        if nextTurn <= now() { takeTurn() } else { armTimer() }
    }

    /// Does everything that there is to do: results, datagrams, due timers.
    ///
    /// - Parameter isAnnounced: True if the socket has told of datagrams.
    private func takeTurn(isAnnounced: Bool = false) {
        guard !isClosed else { return }
        takeCompletions(now: self.now())
        // Arrivals are told by how long ago they were, and the results may have taken a while.
        let now = now()
        var count = 0
        if let socket, isAnnounced || pace.isBusy {
            count = socket.read(now: now) {
                (datagram: consuming ByteBuffer, path: NetworkPath, arrival: MonotonicInstant) in
                relay.receive(datagram, from: path.remote, at: path.local, arrival: arrival, now: now)
            }
        }
        if relay.nextWakeUp <= now { relay.wake(now: now) }
        pace.noteTurn(datagramCount: count, isFull: count >= MediaSocket.datagramsPerRead, now: now)
        socket?.setAnnouncesDatagrams(!pace.isBusy)
        settle(now: now)
    }

    private func takeCompletions(now: MonotonicInstant) {
        for completion in completions.takeAll() { relay.complete(completion, now: now) }
    }
}

extension RelayDriver: MediaSocket.Receiver {
    nonisolated func datagramsCame() {
        assumeIsolated { $0.takeTurn(isAnnounced: true) }
    }

    nonisolated func socketClosed() {
        assumeIsolated { $0.recordSocketClosed() }
    }

    private func recordSocketClosed() {
        socket = nil
        socketEnd?.resume()
        socketEnd = nil
    }
}
