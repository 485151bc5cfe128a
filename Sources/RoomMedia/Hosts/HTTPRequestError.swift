import AsyncHTTPClient
import Foundation
import NIOCore
import NIOPosix

/// A request that was not answered, and why, as the operator reads it.
package struct HTTPRequestError: Error, CustomStringConvertible {
    package let description: String

    package init(_ error: any Error) { description = Self.reason(error) }

    private static func reason(_ error: any Error) -> String {
        switch error {
        case let error as HTTPClientError where error.isTimeout: "no answer in time"
        case let error as HTTPClientError where error == .remoteConnectionClosed: "it closes the connection"
        case let error as NIOConnectionError:
            error.connectionErrors.first.map { reason($0.error) } ?? "nothing is found at \(error.host)"
        case let error as IOError: String(cString: strerror(error.errnoCode))
        default: "\(error)"
        }
    }
}
