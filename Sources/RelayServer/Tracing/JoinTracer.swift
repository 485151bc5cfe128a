import Conference
import Foundation
import HTTPTypes
import MediaCore
import Synchronization

/// Traces joins: a span for the request and, where a client was let in, one for the time until it has connected.
final class JoinTracer: Sendable {
    /// Joins that have not connected yet; of more the oldest are forgotten. Rooms bound it already: an unconnected join
    /// ends after ten seconds.
    private static let mostConnecting = 1024

    private struct Connecting {
        var context: TraceContext
        var start: Date
    }

    private let exporter: TraceExporter
    private let connecting = Mutex<[String: Connecting]>([:])

    init(exporter: TraceExporter) {
        self.exporter = exporter
    }

    /// Answers a join, and tells how long that took.
    ///
    /// - Parameters:
    ///   - traceparent: The request's field of this name.
    ///   - route: The route of the request.
    ///   - room: The room that is joined.
    ///   - join: Answers it; returns the new participant's id and the answer's status.
    func trace<Answer>(
        traceparent: String?, route: String, room: String,
        _ join: () async throws -> (answer: Answer, status: Int, participant: String?)
    ) async throws -> Answer {
        var generator = SystemRandomNumberGenerator()
        let context = TraceContext(traceparent: traceparent, using: &generator)
        let start = Date()
        var span = TraceSpan(
            context: context, name: "POST \(route)", kind: .server, start: start, end: start,
            attributes: [
                .init(key: "http.request.method", value: .text("POST")),
                .init(key: "http.route", value: .text(route)),
                .init(key: "confrelay.room", value: .text(room)),
            ])
        do {
            let joined = try await join()
            let answered = Date()
            span.end = answered
            span.attributes.append(.init(key: "http.response.status_code", value: .number(joined.status)))
            if let participant = joined.participant {
                span.attributes.append(.init(key: "confrelay.participant", value: .text(participant)))
                let part = TraceContext(partOf: context, using: &generator)
                connecting.withLock { connecting in
                    if connecting.count >= Self.mostConnecting,
                        let oldest = connecting.min(by: { $0.value.start < $1.value.start })?.key
                    {
                        connecting[oldest] = nil
                    }
                    connecting[participant] = Connecting(context: part, start: answered)
                }
            }
            exporter.export(span)
            return joined.answer
        } catch {
            span.end = Date()
            let problem = error as? Problem
            span.attributes.append(
                .init(key: "http.response.status_code", value: .number(problem?.status.code ?? 500)))
            span.error = problem?.detail ?? "\(error)"
            exporter.export(span)
            throw error
        }
    }

    /// Ends the span of a join whose client has connected, or has left before.
    func record(_ notice: RelayNotice) {
        switch notice {
        case .connected(let member, _): end(member, error: nil)
        case .left(let member, let reason, _): end(member, error: RelayLog.words(reason))
        case .joined, .fellSilent, .authenticationFailed, .deviceFailed, .compositionDeviceFailed: break
        }
    }

    private func end(_ member: RelayNotice.Member, error: String?) {
        guard let begun = connecting.withLock({ $0.removeValue(forKey: member.id) }) else { return }
        exporter.export(
            TraceSpan(
                context: begun.context, name: "connect", kind: .internal, start: begun.start, end: Date(),
                attributes: [
                    .init(key: "confrelay.room", value: .text(member.room)),
                    .init(key: "confrelay.participant", value: .text(member.id)),
                ], error: error))
    }
}
