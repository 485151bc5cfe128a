import HTTPTypes
import Hummingbird

/// The routes for operators, at an address of their own.
extension SignallingRouter {
    /// The routes there: all that read, and none that changes a call. A client that reaches the address needs no proof.
    func makeAdministrationRouter() -> Router<SignallingContext> {
        var served = self
        served.hasAdministrationAddress = false
        let router = Router(context: SignallingContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: SiteMiddleware(policy: sites))
        router.add(middleware: ProblemMiddleware())
        for route in served.routes {
            let reading = route.requests.filter { $0.method == .get && !Self.isForPeople.contains(route.path) }
                .map { Route.Request(.get, .none, $0.handler) }
            if !reading.isEmpty { add(Route(route.path, reading), to: router) }
        }
        return router
    }

    /// The page that people join from, and the events that it follows.
    private static let isForPeople: Set<String> = ["/", "/rooms/:room/events"]

    static let servedElsewhere = Problem(
        .forbidden, "this is served at the relay's administration address alone (--admin-address)")
}
