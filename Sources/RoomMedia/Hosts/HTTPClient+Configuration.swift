package import AsyncHTTPClient
package import NIOCore

extension HTTPClient.Configuration {
    /// A client that goes where it is told, and nowhere else: an answer must not send it on.
    ///
    /// - Parameter time: The longest that making a connection may take.
    package static func withoutRedirections(connectingWithin time: TimeAmount) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.timeout.connect = time
        return configuration
    }
}

extension HTTPClientError {
    private static let timeouts = [HTTPClientError.connectTimeout, .readTimeout, .deadlineExceeded]

    /// True if the server took too long.
    var isTimeout: Bool { Self.timeouts.contains(self) }
}
