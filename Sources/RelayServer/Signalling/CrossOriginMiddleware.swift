import HTTPTypes
import Hummingbird

/// Lets pages of other sites use the interface for programs (Cross-Origin Resource Sharing of the Fetch standard; RFC
/// 9725, section 4.2, asks for it).
///
/// The relay uses no cookies, so a page can do no more through a visitor's browser than by itself, if it reaches the
/// relay at all.
struct CrossOriginMiddleware: RouterMiddleware {
    /// The first segments of the paths that other sites may use.
    static let openPaths: Set<Substring> = ["rooms", "whip", "whep"]
    /// The fields of an answer that scripts may read in addition to the standard ones.
    static let exposedFields = "Location, ETag, Link, Retry-After, Accept-Post, Accept-Patch, Allow"
    /// The fields that scripts may send in addition to the standard ones.
    static let requestFields = "Content-Type, Authorization, If-Match, Last-Event-ID"
    /// Seconds for which a browser need not ask again.
    static let maximumAge = "86400"

    func handle(
        _ request: Request, context: SignallingContext, next: (Request, SignallingContext) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        guard let first = request.uri.path.split(separator: "/").first, Self.openPaths.contains(first) else {
            return response
        }
        response.headers[.accessControlAllowOrigin] = "*"
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
