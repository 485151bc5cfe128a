import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import MediaCore
import NIOCore
import RoomAPI
import Synchronization
import Testing

@testable import Conference
@testable import RelayServer

@Suite("Traces of joins")
struct JoinTracerTests {
    /// Keeps what a collector would get.
    private final class Collector: WebhookTransport {
        let status: Int
        let requests = Mutex<[(url: String, body: Data)]>([])

        init(status: Int = 200) { self.status = status }

        func post(_ body: [UInt8], to url: String, fields: [(name: String, value: String)]) async throws -> Int {
            requests.withLock { $0.append((url, Data(body))) }
            return status
        }

        struct Export: Decodable {
            struct Span: Decodable {
                struct Status: Decodable { var message: String }
                var traceId, spanId, name: String
                var parentSpanId: String?
                var startTimeUnixNano, endTimeUnixNano: String
                var status: Status?
            }
            struct Scope: Decodable { var spans: [Span] }
            struct Resource: Decodable { var scopeSpans: [Scope] }
            var resourceSpans: [Resource]
        }

        var spans: [Export.Span] {
            requests.withLock { $0 }.flatMap { request in
                (try? JSONDecoder().decode(Export.self, from: request.body))?.resourceSpans
                    .flatMap(\.scopeSpans).flatMap(\.spans) ?? []
            }
        }
    }

    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func member(_ id: String) -> RelayNotice.Member {
        RelayNotice.Member(room: "demo", id: id, name: "Ada", role: .sendAndReceive, address: nil)
    }

    @Test("a join is a span of its client's trace, and the time until it has connected a part of that span")
    func connected() async throws {
        let collector = Collector()
        let exporter = TraceExporter(endpoint: "http://collector:4318", transport: collector, logger: logger)
        let tracer = JoinTracer(exporter: exporter)
        let field = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        let answer = try await tracer.trace(traceparent: field, route: "/whip/:room", room: "demo") {
            ("answer", 201, "p1")
        }
        #expect(answer == "answer")
        tracer.record(.connected(member("p1"), after: .milliseconds(80)))
        // Leaving later ends no span.
        tracer.record(.left(member("p1"), .left, after: .seconds(9)))
        await exporter.flush()
        #expect(collector.requests.withLock { $0.first?.url } == "http://collector:4318/v1/traces")
        let spans = collector.spans
        #expect(spans.map(\.name) == ["POST /whip/:room", "connect"])
        #expect(spans.map(\.traceId) == Array(repeating: "0af7651916cd43dd8448eb211c80319c", count: 2))
        #expect(spans.first?.parentSpanId == "b7ad6b7169203331")
        #expect(spans.last?.parentSpanId == spans.first?.spanId)
        #expect(spans.allSatisfy { $0.status == nil && UInt64($0.endTimeUnixNano)! >= UInt64($0.startTimeUnixNano)! })
    }

    /// A collector that does not answer its first request.
    private struct Sleeper: WebhookTransport {
        let collector = Collector()
        private let requests = AsyncStream.makeStream(of: Void.self)

        func post(_ body: [UInt8], to url: String, fields: [(name: String, value: String)]) async throws -> Int {
            let status = try await collector.post(body, to: url, fields: fields)
            requests.continuation.yield()
            if collector.requests.withLock({ $0.count }) == 1 { try await Task.sleep(for: .seconds(3600)) }
            return status
        }

        func waitForRequest() async { for await _ in requests.stream { return } }
    }

    @Test("a stop in the middle of a request sends its spans again")
    func stopDuringRequest() async throws {
        let sleeper = Sleeper()
        let exporter = TraceExporter(endpoint: "http://collector:4318", transport: sleeper, logger: logger)
        _ = try await JoinTracer(exporter: exporter).trace(traceparent: nil, route: "/whip/:room", room: "demo") {
            ("answer", 201, nil)
        }
        exporter.start(every: .zero)
        await sleeper.waitForRequest()
        await exporter.close()
        let names = sleeper.collector.spans.map(\.name)
        #expect(names.count == 2 && Set(names) == ["POST /whip/:room"])
    }

    @Test("a refused join, and one whose client never connects, say why")
    func failures() async {
        let collector = Collector()
        let exporter = TraceExporter(endpoint: "http://collector:4318/", transport: collector, logger: logger)
        let tracer = JoinTracer(exporter: exporter)
        await #expect(throws: Problem.self) {
            try await tracer.trace(traceparent: nil, route: "/whep/:room", room: "demo") {
                () throws -> (answer: String, status: Int, participant: String?) in
                throw Problem(.forbidden, "the room is locked")
            }
        }
        _ = try? await tracer.trace(traceparent: nil, route: "/whep/:room", room: "demo") { ("", 201, "p2") }
        tracer.record(.left(member("p2"), .neverConnected, after: .seconds(10)))
        await exporter.flush()
        let spans = collector.spans
        #expect(spans.map(\.name) == ["POST /whep/:room", "POST /whep/:room", "connect"])
        #expect(spans[0].status?.message == "the room is locked")
        #expect(spans[1].status == nil)
        #expect(spans[2].status?.message.hasPrefix("it never connected") == true)
        #expect(Set(spans.map(\.traceId)).count == 2)
    }

    @Test("a join whose offer is too long says so, as its answer does")
    func longOffer() async {
        let collector = Collector()
        let exporter = TraceExporter(endpoint: "http://collector:4318", transport: collector, logger: logger)
        let request = Request(
            head: HTTPRequest(method: .post, scheme: "http", authority: "relay", path: "/whip/demo"),
            body: RequestBody(buffer: ByteBuffer(repeating: 0x76, count: 65_537)))
        _ = try? await JoinTracer(exporter: exporter).trace(traceparent: nil, route: "/whip/:room", room: "demo") {
            try await (request.text(), 201, nil)
        }
        await exporter.flush()
        #expect(collector.spans.map(\.status?.message) == ["the body is larger than 65536 bytes"])
    }

    @Test(
        "a malformed traceparent begins a trace of its own",
        arguments: [
            "", "00-0-1-01", "garbage", "00-\(String(repeating: "0", count: 32))-b7ad6b7169203331-01",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        ])
    func malformed(field: String) {
        var generator = SeededGenerator(seed: 1)
        let context = TraceContext(traceparent: field, using: &generator)
        #expect(context.parent == nil)
        #expect(context.trace.count == 32 && context.span.count == 16)
    }

    @Test("a collector that takes nothing costs no more than the spans, of which so many wait at most")
    func unreachable() async {
        let collector = Collector(status: 503)
        let exporter = TraceExporter(endpoint: "http://collector:4318", transport: collector, logger: logger)
        let tracer = JoinTracer(exporter: exporter)
        for _ in 0..<TraceExporter.queueLength + 500 {
            _ = try? await tracer.trace(traceparent: nil, route: "/whep/:room", room: "demo") { ("", 202, nil) }
        }
        await exporter.flush()
        #expect(collector.spans.count == TraceExporter.queueLength)
    }
}
