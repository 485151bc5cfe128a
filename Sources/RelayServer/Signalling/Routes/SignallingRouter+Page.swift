import HTTPTypes
import Hummingbird

/// The page that people join from, and its files.
extension SignallingRouter {
    /// The permissions of the page (Content Security Policy Level 3): its own scripts, styles and pictures, connections
    /// to this relay and others of its cluster, and nothing inline.
    static func contentSecurityPolicy(relays: [WebOrigin] = []) -> String {
        let connections = (["'self'"] + relays.map(\.description)).joined(separator: " ")
        return [
            "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "font-src 'self'",
            "media-src 'self' blob:", "connect-src \(connections)", "manifest-src 'self'", "base-uri 'none'",
            "form-action 'self'", "frame-ancestors 'none'",
        ].joined(separator: "; ")
    }

    func page(_ request: Request, _ context: SignallingContext) async throws -> Response {
        guard let index = webFiles["index.html"] else {
            throw Problem(.notFound, "this relay was built without a page")
        }
        var response = Self.response(with: index, to: request)
        if let cluster {
            response.headers[.contentSecurityPolicy] = Self.contentSecurityPolicy(relays: await cluster.origins)
        }
        return response
    }

    /// The OpenAPI description of this interface.
    func interfaceDescription(_ request: Request, _ context: SignallingContext) async throws -> Response {
        guard let file = webFiles["openapi.json"] else {
            throw Problem(.notFound, "this relay was built without a description of its interface")
        }
        return Self.response(with: file, to: request)
    }

    func webFile(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let path = context.parameters.getCatchAll().joined(separator: "/")
        guard let file = webFiles[path] else { throw Problem(.notFound, "there is nothing at \(request.uri.path)") }
        return Self.response(with: file, to: request)
    }

    static func response(with file: WebFile, to request: Request) -> Response {
        var headers: HTTPFields = [
            .contentType: file.mediaType, .eTag: file.entityTag,
            // Browsers ask each time and mostly hear 304: after an upgrade no page is made of old and new files.
            .cacheControl: "no-cache",
            .contentSecurityPolicy: contentSecurityPolicy(), .xContentTypeOptions: "nosniff",
        ]
        headers[.referrerPolicy] = "no-referrer"
        headers[.crossOriginResourcePolicy] = "same-origin"
        headers[.crossOriginOpenerPolicy] = "same-origin"
        if EntityTagList(request.headers[.ifNoneMatch])?.weaklyContains(file.entityTag) == true {
            return Response(status: .notModified, headers: headers)
        }
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: file.contents))
    }
}

extension HTTPField.Name {
    static let referrerPolicy = known("Referrer-Policy")
    static let crossOriginOpenerPolicy = known("Cross-Origin-Opener-Policy")
}
