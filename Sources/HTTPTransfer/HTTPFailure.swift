import Foundation

/// Why a request has no answer, in words for the operator's log.
public enum HTTPFailure: Error, Hashable, Sendable, CustomStringConvertible {
    case timedOut
    /// There is no connection to the server, for a reason of the system (errno(3)).
    case notConnected(code: Int32)
    /// The connection broke, for a reason of the system.
    case connectionLost(code: Int32)
    /// The server closed the connection before its answer's end.
    case connectionClosed
    case nameNotFound(host: String)
    /// The server's certificate leads to none that is trusted, or is another host's, for a reason in libcurl's words.
    case notTrusted(reason: String)
    /// The server does not speak TLS, or no TLS that both sides know, for a reason in libcurl's words.
    case noTLS(reason: String)
    /// The answer has more bytes than its receiver takes.
    case answerTooLong
    /// As many of the client's requests to the server are under way as there may be.
    case tooManyRequests
    /// The client was closed.
    case clientClosed
    /// The task that waited was cancelled.
    case cancelled
    /// Anything else, often in libcurl's words.
    case failed(String)

    public var description: String {
        switch self {
        case .timedOut: "no answer in time"
        case .notConnected(let code), .connectionLost(let code): String(cString: strerror(code))
        case .connectionClosed: "it closes the connection"
        case .nameNotFound(let host): "nothing is found at \(host)"
        case .answerTooLong: "its answer is too long"
        case .tooManyRequests: "too many requests are under way"
        case .clientClosed: "the connections are closed"
        case .cancelled: "the request was cancelled"
        case .notTrusted(let reason), .noTLS(let reason), .failed(let reason): reason
        }
    }
}
