public import Foundation
import SecureTransport

/// The secret that this relay and its TURN servers share. With it the relay makes credentials that expire, as "A REST
/// API for Access to TURN Services" (draft-uberti-behave-turn-rest-00) describes and coturn checks
/// (`use-auth-secret`).
public struct TURNSecret: Hashable, Sendable {
    /// The validity of credentials that the draft recommends. An allocation made with them may go on for longer.
    public static let validity = Duration.seconds(24 * 3600)

    private let secret: String

    /// Takes a secret without the white space around it.
    /// - Throws: `ICEServer.ParseError` where none is left.
    public init(_ text: String) throws(ICEServer.ParseError) {
        secret = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !secret.isEmpty, !secret.contains(where: \.isNewline) else {
            throw ICEServer.ParseError(description: "it must have one line, the static-auth-secret of the TURN server")
        }
    }

    /// A server as it is, or with credentials of these minutes where it lacks some.
    /// - Parameter user: Stands in the TURN server's log; visible ASCII characters.
    public func completing(_ server: ICEServer, for user: String, at date: Date) -> ICEServer {
        guard server.lacksCredentials else { return server }
        let expiry = Int64(date.timeIntervalSince1970) + Self.validity.components.seconds
        let username = "\(expiry):\(user)"
        guard let code = KeyedHash(key: Array(secret.utf8)).codeWithSHA1(of: username) else { return server }
        return ICEServer(
            uri: server.uri, credentials: .init(username: username, password: Data(code).base64EncodedString()))
    }
}
