import Dispatch
import Foundation
import Glibc
import Logging
import MediaCore
import RoomAPI
import RoomMedia
import Synchronization

/// Takes a relay's events from the driver's loop to webhooks and to the event log.
///
/// The loop puts an event into a bounded queue and goes on. A task of low priority encodes it and writes it; each
/// webhook has a task of its own.
final class EventOutputs: Sendable {
    private enum Order {
        case event(RelayEvent)
        case reopenLog
    }

    /// Events that wait to be written.
    private static let queueLength = 4096
    /// The time for the last events after the relay's end; webhooks get the rest after the next start.
    static let lastMoment = Duration.milliseconds(500)
    /// The time for a slow disk before that.
    static let diskPatience = DispatchTimeInterval.seconds(5)

    private let orders: AsyncStream<Order>
    private let tell: AsyncStream<Order>.Continuation
    private let deliveries: [WebhookDelivery]
    private let client: WebhookClient?
    private let lock: FileLock?
    private let log: Mutex<EventLog?>
    private let lost = Atomic<UInt64>(0)
    private let delivering = Mutex<[Task<Void, Never>]>([])
    /// Done when all that was told is written.
    private let written = DispatchGroup()

    /// Opens files and queues.
    /// - Returns: nil where events go nowhere.
    static func open(
        _ configuration: RelayServerConfiguration, logger: Logger
    ) throws(StartupError) -> EventOutputs? {
        guard configuration.eventLog != nil || !configuration.webhooks.isEmpty else { return nil }
        return try EventOutputs(configuration, logger: logger)
    }

    private init(_ configuration: RelayServerConfiguration, logger: Logger) throws(StartupError) {
        (orders, tell) = AsyncStream.makeStream(of: Order.self, bufferingPolicy: .bufferingOldest(Self.queueLength))
        let path = configuration.eventLog
        log = Mutex(try path.map { path throws(StartupError) in try EventLog(path: path, logger: logger) })
        guard let signer = configuration.webhookSigner, !configuration.webhooks.isEmpty else {
            client = nil
            lock = nil
            deliveries = []
            return
        }
        let folder = configuration.webhookQueueFolder
        try WrittenPath.webhookQueue(folder).makeFolder()
        lock = try FileLock(path: folder + "/lock", folder: folder)
        Self.removeForgotten(in: folder, except: Set(configuration.webhooks.map(\.folderName)))
        let client = WebhookClient()
        self.client = client
        deliveries = try configuration.webhooks.map { endpoint throws(StartupError) -> WebhookDelivery in
            do {
                let queue = try WebhookQueue(
                    folder: URL(fileURLWithPath: folder).appendingPathComponent(endpoint.folderName))
                return WebhookDelivery(
                    endpoint: endpoint, queue: queue, signer: signer, transport: client, logger: logger)
            } catch {
                throw .webhookQueueNotUsable(path: folder, reason: error.localizedDescription)
            }
        }
    }

    /// Tells an event. It never waits: of too many events the newest are lost, and counted.
    func record(_ event: RelayEvent) {
        if case .dropped = tell.yield(.event(event)) { lost.wrappingAdd(1, ordering: .relaxed) }
    }

    /// Opens the event log's file anew.
    func reopenLog() { tell.yield(.reopenLog) }

    /// Starts to write and to deliver.
    func start() {
        written.enter()
        Task(priority: .utility) { [self] in
            defer { written.leave() }
            for await order in orders {
                switch order {
                case .reopenLog: log.withLock { _ = $0?.reopen() }
                case .event(let event):
                    guard let line = try? Self.encode(event) else { continue }
                    log.withLock { _ = $0?.append(line) }
                    for delivery in deliveries { await delivery.append(event, line: line) }
                }
            }
        }
        let tasks = deliveries.map { delivery in Task(priority: .utility) { await delivery.run() } }
        delivering.withLock { $0 = tasks }
    }

    /// Writes what was told, and delivers what can be delivered in a moment.
    func close(diskPatience: DispatchTimeInterval = EventOutputs.diskPatience) async {
        tell.finish()
        await written.waitUntilDone(timeout: diskPatience)
        // Where a write hangs, so would everything below.
        guard isWritten else { return }
        for delivery in deliveries { await delivery.finish() }
        await withTaskGroup(of: Void.self) { group in
            for task in delivering.withLock({ $0 }) { group.addTask { await task.value(within: Self.lastMoment) } }
        }
        await client?.close()
    }

    private var isWritten: Bool { written.wait(timeout: .now()) == .success }

    /// The outcomes of all webhooks' events so far.
    var counters: WebhookCounters {
        var all = WebhookCounters(dropped: lost.load(ordering: .relaxed))
        for delivery in deliveries { all.add(delivery.counters) }
        return all
    }

    /// Removes the queues of webhooks that are no longer configured, once nothing in them is worth delivering.
    private static func removeForgotten(in folder: String, except names: Set<String>) {
        let files = FileManager.default
        let oldest = Date(timeIntervalSinceNow: -WebhookDelivery.patience.seconds)
        for name in (try? files.contentsOfDirectory(atPath: folder)) ?? [] where !names.contains(name) {
            let queue = folder + "/" + name
            let times = ((try? files.contentsOfDirectory(atPath: queue)) ?? []).compactMap {
                try? files.attributesOfItem(atPath: queue + "/" + $0)[.modificationDate] as? Date
            }
            guard name.hasPrefix(WebhookEndpoint.folderPrefix), times.allSatisfy({ $0 < oldest }) else { continue }
            try? files.removeItem(atPath: queue)
        }
    }

    private static func encode(_ event: RelayEvent) throws -> Data { try JSONEncoder.compact.encode(event) }
}

/// Keeps another relay out of a folder for as long as this one runs.
private final class FileLock: Sendable {
    private let descriptor: CInt

    init(path: String, folder: String) throws(StartupError) {
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw .webhookQueueNotUsable(path: folder, reason: String(cString: strerror(errno)))
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw .webhookQueueNotUsable(path: folder, reason: "another relay uses it")
        }
    }

    deinit { Glibc.close(descriptor) }
}

extension Task<Void, Never> {
    /// Waits for the end of the task, which is cancelled after a time.
    func value(within limit: Duration) async {
        let timer = Task {
            try? await Task<Never, Never>.sleep(for: limit)
            cancel()
        }
        await value
        timer.cancel()
    }
}
