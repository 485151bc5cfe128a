import Foundation
import Logging
import MediaCore
import RoomMedia
import Synchronization

/// Sends spans to an OpenTelemetry collector, by OTLP over HTTP in JSON (OTLP 1.0, "OTLP/HTTP"). Calls and joins never
/// wait for it: a collector that does not answer costs the spans alone.
final class TraceExporter: Sendable {
    /// Spans that wait to be sent; more are lost.
    static let queueLength = 2048
    private static let longestBatch = 256
    static let interval = Duration.seconds(2)

    private let url: String
    private let transport: any WebhookTransport
    private let logger: Logger
    private let waiting = Mutex<[TraceSpan]>([])
    private let outages = Mutex(OutageNotes())
    private let running = Mutex<Task<Void, Never>?>(nil)

    /// - Parameter endpoint: The collector's base URL, such as `http://localhost:4318`.
    init(endpoint: String, transport: any WebhookTransport, logger: Logger) {
        url = endpoint + (endpoint.hasSuffix("/") ? "v1/traces" : "/v1/traces")
        self.transport = transport
        self.logger = logger
    }

    func export(_ span: TraceSpan) {
        waiting.withLock { if $0.count < Self.queueLength { $0.append(span) } }
    }

    /// Begins to send spans.
    func start(every interval: Duration = TraceExporter.interval) {
        let sending = Task(priority: .utility) {
            while (try? await Task.sleep(for: interval)) != nil { await flush() }
        }
        running.withLock { $0 = sending }
    }

    /// Sends the last spans, for as long as a stop may take.
    func close() async {
        let sending = running.withLock { $0 }
        sending?.cancel()
        let last = Task {
            await sending?.value
            await flush()
        }
        await last.value(within: EventOutputs.lastMoment)
        await transport.close()
    }

    /// Sends all that waits.
    func flush() async {
        while true {
            let batch = waiting.withLock { spans in
                let batch = spans.prefix(Self.longestBatch)
                spans.removeFirst(batch.count)
                return Array(batch)
            }
            guard !batch.isEmpty, let body = try? JSONEncoder().encode(Export(batch)) else { return }
            do {
                let status = try await transport.post(Array(body), to: url, fields: [])
                tell(failure: (200..<300).contains(status) ? nil : "it answers \(status)")
            } catch {
                guard !Task.isCancelled else {
                    // A stop broke the request off: the last flush sends it again.
                    waiting.withLock { $0.insert(contentsOf: batch, at: 0) }
                    return
                }
                tell(failure: "\(error)")
            }
        }
    }

    /// Says that the collector takes nothing, and that it does again.
    private func tell(failure: String?) {
        guard let failure else {
            if outages.withLock({ $0.succeeded() }) { logger.notice("the collector at \(url) takes traces again") }
            return
        }
        guard outages.withLock({ $0.failed(now: .now()) }) else { return }
        logger.warning("traces are lost: the collector at \(url) does not take them: \(failure)")
    }

    /// The body of a request.
    private struct Export: Encodable {
        struct Resource: Encodable {
            var attributes = [
                TraceSpan.Attribute(key: "service.name", value: .text("confrelay")),
                TraceSpan.Attribute(key: "service.version", value: .text(RelayVersion.current)),
            ]
        }
        struct Scope: Encodable { var name = "confrelay" }
        struct ScopeSpans: Encodable {
            var scope = Scope()
            var spans: [TraceSpan]
        }
        struct ResourceSpans: Encodable {
            var resource = Resource()
            var scopeSpans: [ScopeSpans]
        }
        var resourceSpans: [ResourceSpans]

        init(_ spans: [TraceSpan]) {
            resourceSpans = [ResourceSpans(scopeSpans: [ScopeSpans(spans: spans)])]
        }
    }
}
