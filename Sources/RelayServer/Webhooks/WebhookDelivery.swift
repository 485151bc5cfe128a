import Foundation
import Logging
import MediaCore
import RoomAPI
import RoomMedia
import Synchronization

/// Sends one request to a webhook. The program's is `WebhookClient`.
protocol WebhookTransport: Sendable {
    /// Posts a body.
    /// - Returns: The status of the answer.
    func post(_ body: [UInt8], to url: String, fields: [(name: String, value: String)]) async throws -> Int
    /// Ends its connections.
    func close() async
}

extension WebhookTransport {
    func close() async {}
}

/// The time as deliveries have it; virtual in tests.
struct WebhookClock: Sendable {
    var now: @Sendable () -> Date = { Date() }
    /// A clock that nobody sets.
    var uptime: @Sendable () -> MonotonicInstant = { .now() }
    var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
}

/// Brings the events that one endpoint wants to it: those of a room in their order, each at least once.
actor WebhookDelivery {
    /// The age at which events are given up.
    static let patience = Duration.seconds(3600)
    /// Rooms whose events are posted at the same time.
    private static let lanes = 8
    /// Events that are read from the queue at once.
    private static let windowLength = 64
    private static let longestPause = 60.0
    /// The least time between two lines in the log about refused events.
    private static let refusalInterval = 60.0

    nonisolated let endpoint: WebhookEndpoint
    private let signer: WebhookSigner
    private let transport: any WebhookTransport
    private let clock: WebhookClock
    private let logger: Logger
    private var queue: WebhookQueue
    private var ages = EventAges()
    private let totals = Mutex(WebhookCounters())
    /// Which failures of requests the log tells of.
    private var outages = OutageNotes()
    /// True if the log has said that the disk takes no events.
    private var isWithoutDisk = false
    /// True if the log has said that the queue cannot be read.
    private var isUnreadable = false
    /// True once the log has said that the disk does not keep the place up to which events are delivered.
    private var isForgetful = false
    /// The time of the log's last line about refused events, and how many were refused since.
    private var refusals: (told: Date?, untold: Int) = (nil, 0)
    private let news: AsyncStream<Void>
    private let tell: AsyncStream<Void>.Continuation

    init(
        endpoint: WebhookEndpoint, queue: WebhookQueue, signer: WebhookSigner, transport: any WebhookTransport,
        clock: WebhookClock = WebhookClock(), logger: Logger
    ) {
        self.endpoint = endpoint
        self.queue = queue
        self.signer = signer
        self.transport = transport
        self.clock = clock
        self.logger = logger
        (news, tell) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        // Events that an earlier run of the program left.
        tell.yield()
    }

    /// The outcomes of the events so far.
    nonisolated var counters: WebhookCounters { totals.withLock { $0 } }

    /// Counts, and looks at the queue.
    private func count(_ change: (inout WebhookCounters) -> Void = { _ in }) {
        totals.withLock { totals in
            change(&totals)
            totals.waiting = queue.size
        }
    }

    /// Puts an event into the queue, if the endpoint wants it.
    func append(_ event: RelayEvent, line: Data) {
        guard endpoint.wants(event) else { return }
        ages.observe(clock.now(), uptime: clock.uptime())
        do {
            let dropped = queue.dropped
            try queue.append(line)
            count { $0.dropped &+= queue.dropped - dropped }
            isWithoutDisk = false
        } catch {
            count { $0.dropped &+= 1 }
            if !isWithoutDisk {
                logger.error(
                    """
                    events for the webhook \(endpoint.shownURL) cannot be kept and are lost: \
                    \(error.localizedDescription)
                    """)
            }
            isWithoutDisk = true
        }
        tell.yield()
    }

    /// No more events come: `run` ends when all are delivered.
    func finish() { tell.finish() }

    /// Delivers until the task is cancelled, or all is done after `finish`.
    func run() async {
        for await _ in news {
            while !Task.isCancelled {
                let window: [WebhookQueue.Entry]
                do {
                    window = try queue.next(Self.windowLength)
                    isUnreadable = false
                } catch {
                    if !isUnreadable {
                        logger.error(
                            """
                            the queue of the webhook \(endpoint.shownURL) cannot be read, and is tried again: \
                            \(error.localizedDescription)
                            """)
                    }
                    isUnreadable = true
                    try? await clock.sleep(.seconds(Self.longestPause))
                    continue
                }
                guard let last = window.last else { break }
                await deliver(window)
                guard !Task.isCancelled else { return }
                noteDelivered(upTo: last.end)
            }
        }
    }

    /// Forgets delivered events. Where the disk cannot keep that, as when it is full, only the next start sends them
    /// again.
    private func noteDelivered(upTo place: WebhookQueue.Position) {
        do {
            try queue.deliver(upTo: place)
            isForgetful = false
        } catch {
            if !isForgetful {
                logger.error(
                    """
                    the queue of the webhook \(endpoint.shownURL) cannot keep what is delivered, which comes again \
                    after the next start: \(error.localizedDescription)
                    """)
            }
            isForgetful = true
        }
        count()
    }

    private struct Waiting {
        var event: RelayEvent
        var body: [UInt8]
    }

    private func deliver(_ window: [WebhookQueue.Entry]) async {
        var lanes: [String: [Waiting]] = [:]
        for entry in window {
            // A crash of the machine may leave anything in a file.
            guard let event = try? JSONDecoder().decode(RelayEvent.self, from: entry.line) else {
                count { $0.dropped &+= 1 }
                continue
            }
            lanes[event.room ?? "", default: []].append(Waiting(event: event, body: Array(entry.line)))
        }
        await withTaskGroup(of: Void.self) { group in
            var running = 0
            for lane in lanes.values {
                if running == Self.lanes { await group.next() } else { running += 1 }
                group.addTask { for waiting in lane { await self.deliver(waiting) } }
            }
        }
    }

    private func deliver(_ waiting: Waiting) async {
        var pause = 1.0
        while !Task.isCancelled {
            let now = clock.now()
            ages.observe(now, uptime: clock.uptime())
            guard let happened = try? Date(waiting.event.time, strategy: EventTime.style),
                ages.age(of: happened) < Self.patience.seconds
            else {
                count { $0.expired &+= 1 }
                return
            }
            let fields = signer.fields(id: waiting.event.id, body: waiting.body, at: now)
            do {
                let status = try await transport.post(waiting.body, to: endpoint.url, fields: fields)
                guard !(200..<300).contains(status) else {
                    recordSuccess()
                    return
                }
                guard !Self.isFinal(status) else {
                    recordRefusal(of: waiting.event, status: status, at: now)
                    return
                }
                recordFailure("it answers \(status)")
            } catch {
                guard !Task.isCancelled else { return }
                recordFailure("\(error)")
            }
            // Apart, so that several rooms, or relays, do not come all at once.
            try? await clock.sleep(.seconds(pause * Double.random(in: 0.8...1.2)))
            pause = min(2 * pause, Self.longestPause)
        }
    }

    /// True if the endpoint finds fault with the event itself (RFC 9110, 15.5): to repeat it would only hold up others.
    /// Other answers of 4xx, such as 401 and 404, may come from an endpoint that is being set up.
    private static func isFinal(_ status: Int) -> Bool { [400, 413, 415, 422].contains(status) }

    private func recordSuccess() {
        count { $0.delivered &+= 1 }
        guard outages.succeeded() else { return }
        logger.notice("the webhook \(endpoint.shownURL) takes events again")
    }

    private func recordRefusal(of event: RelayEvent, status: Int, at now: Date) {
        count {
            $0.failedRequests &+= 1
            $0.refused &+= 1
        }
        if let told = refusals.told, now.timeIntervalSince(told) < Self.refusalInterval {
            refusals.untold += 1
            return
        }
        let event = "the event \(event.id) (\(event.type.rawValue))"
        let others = refusals.untold > 0 ? ", as were \(refusals.untold) before it" : ""
        refusals = (now, 0)
        logger.warning("the webhook \(endpoint.shownURL) answers \(status) to \(event): it is given up\(others)")
    }

    private func recordFailure(_ reason: String) {
        count { $0.failedRequests &+= 1 }
        guard outages.failed(now: clock.uptime()) else { return }
        logger.warning(
            "the webhook \(endpoint.shownURL) takes no events: \(reason); each is tried again for an hour")
    }
}

/// The outcomes of the events of webhooks.
public struct WebhookCounters: Hashable, Sendable {
    public internal(set) var delivered: UInt64 = 0
    /// Requests that were not answered with 2xx; each is repeated, unless the answer is final.
    public internal(set) var failedRequests: UInt64 = 0
    /// Events that were given up after an hour.
    public internal(set) var expired: UInt64 = 0
    /// Events that were given up because the endpoint found fault with them.
    public internal(set) var refused: UInt64 = 0
    /// Events that the queue had no room for, or that could not be written or read.
    public internal(set) var dropped: UInt64 = 0
    /// Bytes of events that wait.
    public internal(set) var waiting = 0

    /// Adds those of another webhook.
    mutating func add(_ other: WebhookCounters) {
        delivered &+= other.delivered
        failedRequests &+= other.failedRequests
        expired &+= other.expired
        refused &+= other.refused
        dropped &+= other.dropped
        waiting += other.waiting
    }
}
