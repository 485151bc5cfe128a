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
        if !isOfRelay, let kind = Self.kind(of: request.method), let subject = context.quotaSubject,
            let seconds = quotas.take(kind, of: subject, now: now())
        {
            throw Problem.tooManyRequests(kind, retryAfter: seconds)
        }
        return try await next(request, context)
    }

    /// The quota of a method's requests; nil if they are not counted: reading is cheap, and leaving frees a seat.
    static func kind(of method: HTTPRequest.Method) -> RequestQuotas.Kind? {
        switch method {
        case .post: .join
        case .put, .patch: .change
        default: nil
        }
    }
}
