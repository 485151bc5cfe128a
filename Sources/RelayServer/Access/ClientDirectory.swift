import HTTPTypes
import RoomMedia
import SecureTransport

/// Finds out whose request it is, for what counts by address.
///
/// Any client can send `X-Forwarded-For`. It counts only from a proxy that the operator names, and only its last
/// element does, which is the address that this proxy saw.
struct ClientDirectory: Sendable {
    /// The addresses of reverse proxies.
    var trustedProxies: [NetworkPrefix] = []

    /// The address of a client; nil where a proxy does not tell.
    func client(of request: HTTPRequest, peer: TransportAddress?) -> TransportAddress? {
        guard let peer else { return nil }
        let isTrusted = trustedProxies.contains { $0.contains(peer) }
        guard isTrusted || (peer.isLoopback && Self.isForwarded(request)) else { return peer }
        guard isTrusted else { return nil }
        // The field may come several times; its values then form one list.
        guard let last = request.headerFields[.xForwardedFor]?.split(separator: ",").last else { return nil }
        let text = last.filter { !$0.isWhitespace }
        return TransportAddress(host: text, port: 0) ?? Self.address(in: text)
    }

    /// The address with which some proxies write the client's port: `192.0.2.7:5000`, `[2001:db8::1]:5000`.
    private static func address(in text: String) -> TransportAddress? {
        WebAuthority(text).flatMap { TransportAddress(host: $0.host.filter { !"[]".contains($0) }, port: 0) }
    }

    /// True if a proxy passed a request on. Its peer is then the proxy, and not the client.
    static func isForwarded(_ request: HTTPRequest) -> Bool {
        request.headerFields.contains(.forwarded) || request.headerFields.contains(.xForwardedFor)
    }

    /// True if a proxy says that the request came to it by TLS.
    static func isForwardedByTLS(_ request: HTTPRequest) -> Bool {
        if request.headerFields[.xForwardedProto]?.lowercased() == "https" { return true }
        // The last element is that of the nearest proxy (RFC 7239, section 4).
        let last = request.headerFields[.forwarded]?.split(separator: ",").last ?? ""
        return last.split(separator: ";").contains { pair in
            let pair = pair.filter { !$0.isWhitespace && $0 != "\"" }.lowercased()
            return pair == "proto=https"
        }
    }
}

extension HTTPField.Name {
    static let forwarded = known("Forwarded")
    static let xForwardedFor = known("X-Forwarded-For")
    static let xForwardedProto = known("X-Forwarded-Proto")
}
