import Foundation
import HTTPTypes
import NIOCore
import Synchronization
import Testing

@testable import Conference
@testable import RelayServer

@Suite("The page's files")
struct PageTests {
    private var client = SignallingClient()

    init() {
        client.webFiles = WebFiles([
            WebFile(path: "index.html", contents: ByteBuffer(string: "<!doctype html>")),
            WebFile(path: "sub/main.js", contents: ByteBuffer(string: "export {}")),
        ])
    }

    /// The `Accept` header with which a browser asks for a page.
    private static let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

    @Test("browsers get the page at / and at a room, open or not", arguments: ["/", "/rooms/demo"])
    func page(path: String) async throws {
        let answer = try await client.send(.get, path, headers: [.accept: Self.browser])
        #expect(answer.status == .ok)
        #expect(answer.headers[.contentType] == "text/html; charset=utf-8")
        #expect(answer.body == "<!doctype html>")
    }

    @Test(
        "programs get a room as JSON", arguments: [nil, "*/*", "application/json", "text/html;q=0.5, application/json"])
    func json(accept: String?) async throws {
        client.script.state.withLock { $0.snapshot.rooms = [.init(id: "demo")] }
        var headers: HTTPFields = [:]
        headers[.accept] = accept
        let answer = try await client.send(.get, "/rooms/demo", headers: headers)
        #expect(answer.headers[.contentType] == "application/json")
        #expect(answer.headers[.vary] == "Accept")
        #expect(try await client.send(.get, "/rooms/other", headers: headers).status == .notFound)
    }

    @Test(
        "who follows a mistyped link gets the page, and programs get the problem",
        arguments: [
            ("/rooms/a%20b", HTTPResponse.Status.badRequest), ("/room/demo", .notFound), ("/Rooms/demo", .notFound),
        ])
    func mistypedLink(path: String, status: HTTPResponse.Status) async throws {
        let answer = try await client.send(.get, path, headers: [.accept: Self.browser])
        #expect(answer.status == status && answer.body == "<!doctype html>" && answer.headers[.vary] == "Accept")
        let known = try #require(answer.headers[.eTag])
        let again: HTTPFields = [.accept: Self.browser, .ifNoneMatch: known]
        #expect(try await client.send(.get, path, headers: again).status == .notModified)
        let problem = try await client.send(.get, path)
        #expect(problem.status == status && problem.headers[.vary] == "Accept")
        #expect(problem.headers[.contentType] == "application/problem+json")
    }

    @Test("files are found by their paths, with their types")
    func files() async throws {
        let answer = try await client.send(.get, "/web/sub/main.js")
        #expect(answer.status == .ok)
        #expect(answer.headers[.contentType] == "text/javascript; charset=utf-8")
        #expect(answer.body == "export {}")
    }

    @Test(
        "a path without a file gets 404",
        arguments: [
            "/web", "/web/", "/web/sub", "/web/sub/", "/web/none.js", "/web/../index.html", "/web/%2e%2e/x", "/web//",
        ])
    func missing(path: String) async throws {
        #expect(try await client.send(.get, path).status == .notFound)
    }

    @Test("a file that the browser has already gets 304 and no body")
    func notModified() async throws {
        let tag = try #require(try await client.send(.get, "/web/sub/main.js").headers[.eTag])
        for condition in [tag, "W/\(tag)", "\"other\", \(tag)", "*"] {
            let answer = try await client.send(.get, "/web/sub/main.js", headers: [.ifNoneMatch: condition])
            #expect(answer.status == .notModified && answer.body.isEmpty && answer.headers[.eTag] == tag)
        }
        #expect(try await client.send(.get, "/", headers: [.ifNoneMatch: tag]).status == .ok)
    }

    @Test("the page may load and run its own files, and neither inline code nor files from elsewhere")
    func contentSecurityPolicy() async throws {
        for path in ["/", "/web/sub/main.js"] {
            let headers = try await client.send(.get, path).headers
            let policy = try #require(headers[.contentSecurityPolicy])
            let directives = Dictionary(
                uniqueKeysWithValues: policy.split(separator: "; ").map { directive in
                    let parts = directive.split(separator: " ", maxSplits: 1)
                    return (String(parts[0]), String(parts[1]))
                })
            #expect(directives["default-src"] == "'none'")
            #expect(directives["script-src"] == "'self'" && directives["style-src"] == "'self'")
            #expect(directives["connect-src"] == "'self'")
            #expect(directives["frame-ancestors"] == "'none'" && directives["base-uri"] == "'none'")
            #expect(!policy.contains("unsafe") && !policy.contains("http"))
            #expect(headers[.xContentTypeOptions] == "nosniff")
            #expect(headers[.accessControlAllowOrigin] == nil)
        }
    }

    @Test("all files of the page are in the program, and none has anything inline or from another host")
    func embedded() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources/RelayServer/Resources/web").standardizedFileURL
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { path in
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: folder.path + "/" + path, isDirectory: &isFolder)
            return !isFolder.boolValue
        }
        #expect(EmbeddedWebFiles.all.map(\.path).sorted() == (paths + ["openapi.json"]).sorted())
        for path in paths {
            let file = try #require(WebFiles.embedded[path])
            #expect(
                Data(file.contents.readableBytesView) == FileManager.default.contents(atPath: folder.path + "/" + path))
            #expect(file.mediaType != "application/octet-stream", "\(path)")
        }
        let page = String(buffer: try #require(WebFiles.embedded["index.html"]).contents)
        #expect(!page.contains("<style") && !page.contains(" style=") && !page.contains("://"))
        #expect(page.matches(of: #/<script(?![^>]*\ssrc=)/#).isEmpty)
        #expect(page.matches(of: #/\son[a-z]+=/#).isEmpty)
    }
}

@Suite("The Accept field")
struct AcceptedTypesTests {
    @Test(
        "HTML is given to clients that name it and do not prefer JSON",
        arguments: [
            ("text/html", true), ("TEXT/HTML ; q=1", true), ("text/html,application/json", true),
            ("text/html;q=0.8,application/json;q=0.9", false), ("*/*", false), ("text/*", false),
            ("text/html;q=0", false), ("", false), ("nonsense", false), ("text/html;q=x", false),
        ])
    func preference(field: String, expected: Bool) {
        #expect(AcceptedTypes(field).prefersHTML == expected)
    }
}
