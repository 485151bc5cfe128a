import HTTPTypes
import Hummingbird

/// The routes for operators, at an address of their own.
extension SignallingRouter {
    /// The routes there: all that read, and draining; none that changes a call. A client that reaches the address needs
    /// no proof.
    func makeAdministrationRouter() -> Router<SignallingContext> {
        var served = self
        served.hasAdministrationAddress = false
        let router = Router(context: SignallingContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: SiteMiddleware(policy: sites))
        router.add(middleware: ProblemMiddleware())
        for route in served.routes {
            let requests = route.requests
                .filter { request in
                    (request.method == .get && !Self.isForPeople.contains(route.path)) || route.path == "/admin/drain"
                }
                .map { Route.Request($0.method, .none, $0.handler) }
            if !requests.isEmpty { add(Route(route.path, requests), to: router) }
        }
        return router
    }

    /// The page that people join from, and the events that it follows.
    private static let isForPeople: Set<String> = ["/", "/rooms/:room/events"]

    static let servedElsewhere = Problem(
        .forbidden, "this is served at the relay's administration address alone (--admin-address)")
}
