import HTTPTypes

/// The requests by which a monitor checks the relay. They are answered even when there is no connection left for
/// others.
enum HealthCheck {
    /// The paths, without a query.
    static let paths = ["/healthz", "/readyz", "/metrics"]

    /// Returns true if a request is one of them.
    static func contains(_ request: HTTPRequest) -> Bool {
        guard request.method == .get || request.method == .head else { return false }
        let path = (request.path ?? "").prefix { $0 != "?" }
        return paths.contains { $0 == path }
    }
}
