import HTTPTypes
import Hummingbird

/// Refuses pages of other sites, and lets allowed ones read answers that are meant for programs (Cross-Origin Resource
/// Sharing, as the Fetch standard has it; RFC 9725, section 4.2).
struct SiteMiddleware: RouterMiddleware {
    let policy: SitePolicy
    /// The relay's cluster; nil: it has none.
    var cluster: ClusterService?

    /// The fields of an answer that scripts may read beside those that they always may.
    static let exposedFields =
        "Location, ETag, Link, Retry-After, WWW-Authenticate, Accept-Post, Accept-Patch, Allow, Moderator-Key, "
        + "Rejoin-Key"
    /// The fields that scripts may send in addition to the standard ones.
    static let requestFields = "Content-Type, Authorization, If-Match, Last-Event-ID, Room-PIN, Moderator-Key"
    /// Seconds for which a browser need not ask again.
    static let maximumAge = "86400"

    func handle(
        _ request: Request, context: SignallingContext, next: (Request, SignallingContext) async throws -> Response
    ) async throws -> Response {
        let origin = request.headers[.origin]
        let relays = origin == nil ? [] : await cluster?.origins ?? []
        let isSentOn = origin == SitePolicy.hiddenOrigin ? await cluster?.hasSentOn(request) ?? false : false
        let site: SitePolicy.Site
        do throws(Problem) {
            site = try policy.check(request.head, relays: relays, isSentOn: isSentOn)
        } catch {
            return try error.response
        }
        var context = context
        context.isFromOtherSite = site != .own
        var response = try await next(request, context)
        // Resources that a page embeds need no CORS; this header is for browsers without Fetch Metadata (Fetch, CORP).
        if !policy.allowedOrigins.isAny { response.headers[.crossOriginResourcePolicy] = "same-origin" }
        guard let reader = site.readingOrigin else { return response }
        response.headers[.crossOriginResourcePolicy] = "cross-origin"
        response.headers[.accessControlAllowOrigin] = reader
        response.headers.append(HTTPField(name: .vary, value: "Origin"))
        response.headers[.accessControlExposeHeaders] = Self.exposedFields
        if request.method == .options, request.headers.contains(.accessControlRequestMethod),
            let allowed = response.headers[.allow]
        {
            response.headers[.accessControlAllowMethods] = allowed
            response.headers[.accessControlAllowHeaders] = Self.requestFields
            response.headers[.accessControlMaxAge] = Self.maximumAge
        }
        return response
    }
}
