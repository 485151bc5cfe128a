import Foundation
import HTTPTypes
import SecureTransport

/// Decides which web pages may use the relay through a visitor's browser, by `Host`, `Origin` and `Sec-Fetch-Site`.
///
/// A browser reaches relays that its pages' servers do not: on its own machine and in its network. So pages of other
/// sites are refused unless the operator allows them. Programs that are no browsers send no `Origin`, and are served as
/// long as they reach the relay by a name that no other site can have.
struct SitePolicy: Sendable {
    /// Where a request comes from.
    enum Site: Equatable {
        /// The relay's own page, or a program that is no browser.
        case own
        /// A page of another site that the operator allows.
        case other(WebOrigin)
        /// A page that another relay of the cluster has checked before it sent the request here.
        case checkedElsewhere

        /// The origin that may read the answer; nil: the relay's own, which needs no permission.
        var readingOrigin: String? {
            switch self {
            case .own: nil
            case .other(let origin): origin.description
            case .checkedElsewhere: SitePolicy.hiddenOrigin
            }
        }
    }

    /// Pages of other sites that may use the relay.
    let allowedOrigins: AllowedOrigins
    /// True if requests come by HTTPS.
    let isEncrypted: Bool
    private let ownName: String

    init(
        allowedOrigins: AllowedOrigins = .only([]), isEncrypted: Bool = false,
        ownName: String = ProcessInfo.processInfo.hostName
    ) {
        self.allowedOrigins = allowedOrigins
        self.isEncrypted = isEncrypted
        self.ownName = ownName.lowercased()
    }

    /// Browsers send this in place of a page's origin when a request comes by way of two other sites (Fetch, section
    /// 3.2), and for sandboxed pages and files.
    static let hiddenOrigin = "null"

    /// Checks a request.
    ///
    /// - Parameters:
    ///   - relays: The origins of the cluster's other relays, whose pages are allowed.
    ///   - isSentOn: True if another relay of the cluster has sent the request here, as its ticket proves.
    /// - Throws: A problem with 421 for a name that is not the relay's, 403 for a page that is not allowed.
    func check(
        _ request: HTTPRequest, relays: [WebOrigin] = [], isSentOn: Bool = false
    ) throws(Problem) -> Site {
        try checkHost(of: request)
        guard let origin = request.headerFields[.origin] else {
            try checkFetchSite(of: request)
            return .own
        }
        if origin == Self.hiddenOrigin, isSentOn { return .checkedElsewhere }
        guard let origin = try? WebOrigin(parsing: origin) else { throw Self.foreign(origin) }
        if isOwn(origin, authority: request.authority) { return .own }
        guard allowedOrigins.contains(origin) || relays.contains(origin) else {
            throw Self.foreign(origin.description)
        }
        return .other(origin)
    }

    /// Refuses names that another site can point to this relay (DNS rebinding): its page would be taken for the
    /// relay's own. By HTTPS, browsers refuse those by the certificate.
    private func checkHost(of request: HTTPRequest) throws(Problem) {
        guard !isEncrypted, let text = request.authority, !text.isEmpty else { return }
        guard let authority = WebAuthority(text) else {
            throw Problem(.badRequest, "the Host field is no host, and no host with a port")
        }
        guard !isSafe(authority.host) else { return }
        throw Problem(
            .misdirectedRequest,
            "the relay is not known as '\(authority.host)': a page of another site could have pointed this name here. "
                + "Use the relay's IP address, or start the relay with --allow-origin https://\(authority.host) "
                + "(with the scheme and the port that browsers show)")
    }

    /// True if no other site can have a name. These are addresses, names without a dot, names that are reserved
    /// for local use (RFC 6761, RFC 6762, RFC 8375), the machine's own name, and those of origins that are allowed.
    private func isSafe(_ host: String) -> Bool {
        if host.hasPrefix("[") || TransportAddress(host: host, port: 0) != nil { return true }
        if !host.contains(".") || host == ownName || allowedOrigins.names(host: host) { return true }
        return Self.localDomains.contains { host.hasSuffix($0) }
    }

    private static let localDomains = [".localhost", ".local", ".internal", ".home.arpa"]

    /// True if a page came from the address that it now sends a request to.
    private func isOwn(_ origin: WebOrigin, authority: String?) -> Bool {
        guard let authority = authority.flatMap({ WebAuthority($0) }), origin.host == authority.host else {
            return false
        }
        // A proxy may add TLS; without one, an attacker on the network could serve an http: page of this name.
        guard origin.scheme == "https" || !isEncrypted else { return false }
        return origin.port == authority.port ?? WebOrigin.defaultPort(of: origin.scheme)
    }

    /// Browsers send no `Origin` with pictures, scripts and links, but say that the page is of another site (Fetch
    /// Metadata). Following a link from there is all that is allowed.
    private func checkFetchSite(of request: HTTPRequest) throws(Problem) {
        let fields = request.headerFields
        guard let site = fields[.secFetchSite], site != "same-origin", site != "none", !allowedOrigins.isAny else {
            return
        }
        let isLink =
            (request.method == .get || request.method == .head) && fields[.secFetchMode] == "navigate"
            && fields[.secFetchDest] == "document"
        guard isLink else { throw Self.foreign("another site") }
    }

    private static func foreign(_ origin: String) -> Problem {
        Problem(
            .forbidden,
            "pages of \(origin.prefix(80)) may not use this relay: start it with --allow-origin and the page's origin, "
                + "such as --allow-origin https://calls.example.org")
    }
}

/// The pages of other sites that may use a relay.
public enum AllowedOrigins: Hashable, Sendable {
    /// Every page that a visitor of the relay's network opens.
    case any
    /// Pages of these origins.
    case only([WebOrigin])

    var isAny: Bool { self == .any }

    func contains(_ origin: WebOrigin) -> Bool {
        switch self {
        case .any: true
        case .only(let origins): origins.contains(origin)
        }
    }

    /// True if a host's name is that of an allowed page.
    func names(host: String) -> Bool {
        switch self {
        case .any: true
        case .only(let origins): origins.contains { $0.host == host }
        }
    }
}

extension HTTPField.Name {
    static let secFetchSite = known("Sec-Fetch-Site")
    static let secFetchMode = known("Sec-Fetch-Mode")
    static let secFetchDest = known("Sec-Fetch-Dest")
}
