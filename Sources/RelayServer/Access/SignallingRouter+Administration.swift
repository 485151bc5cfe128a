import HTTPTypes
import Hummingbird

/// What is for operators, at an address of its own.
extension SignallingRouter {
    /// What is served there: all that reads, and nothing that changes a call. Who reaches the address needs no proof.
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
