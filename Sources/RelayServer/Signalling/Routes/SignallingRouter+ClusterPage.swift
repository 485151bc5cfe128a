import HTTPTypes
import Hummingbird
import RoomAPI

/// The page of the cluster, for operators: relays, rooms and links.
extension SignallingRouter {
    var clusterRoutes: [Route] {
        [
            Route("/cluster", [.init(.get, .none, elsewhere ?? clusterPage)]),
            Route("/cluster.json", [.init(.get, .needsEverywhere(.inspect), elsewhere ?? clusterOverview)]),
        ]
    }

    private func clusterService() throws(Problem) -> ClusterService {
        guard let cluster else {
            throw Problem(.notFound, "this relay is in no cluster; its operator can start it with --cluster")
        }
        return cluster
    }

    func clusterPage(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let cluster = try clusterService()
        guard let page = webFiles["cluster.html"] else {
            throw Problem(.notFound, "this relay was built without a page")
        }
        var response = Self.response(with: page, to: request)
        // Its buttons ask the other relays.
        response.headers[.contentSecurityPolicy] = Self.contentSecurityPolicy(relays: await cluster.origins)
        return response
    }

    func clusterOverview(_ request: Request, _ context: SignallingContext) async throws -> Response {
        try .json(await clusterService().makeOverview())
    }
}
