import HTTPTypes
import Hummingbird
import MediaCore
import SecureTransport

/// Finds out whose request it is, and refuses clients that ask too often.
struct QuotaMiddleware: RouterMiddleware {
    let clients: ClientDirectory
    let quotas: RequestQuotas
    let now: @Sendable () -> MonotonicInstant
    /// The relay's cluster; nil: it has none.
    var cluster: ClusterService?

    func handle(
        _ request: Request, context: SignallingContext, next: (Request, SignallingContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.client = clients.client(of: request.head, peer: context.peer)
        if request.method == .post, let client = await cluster?.broughtClient(of: request) { context.client = client }
        // A relay's requests carry a signature; those without count where it is checked.
        let isOfRelay = request.uri.path.hasPrefix(CascadeRequests.path)
        if !isOfRelay, let subject = context.quotaSubject { try quotas.count(request, of: subject, now: now()) }
        return try await next(request, context)
    }
}

extension RequestQuotas {
    /// The bytes of JSON for which a request counts once more. To read wrong JSON takes far longer than to send it.
    private static let costlyBytes = 4096

    /// Counts a request that costs more than reading or leaving does: reading is cheap, and leaving frees a seat.
    ///
    /// - Throws: A problem with 429 where there were too many.
    func count(_ request: Request, of subject: Subject, now: MonotonicInstant) throws(Problem) {
        let kind: Kind
        switch request.method {
        case .post: kind = .join
        case .put, .patch: kind = .change
        default: return
        }
        var cost = 1.0
        if request.mediaType == SignallingMediaType.json {
            // Chunks may come to all that is taken.
            let size = request.headers.contains(.transferEncoding) ? SignallingLimits.bodySize : request.statedSize
            cost += Double(min(size, SignallingLimits.bodySize) / Self.costlyBytes)
        }
        try admit(kind, of: subject, cost: cost, now: now)
    }
}
