import Foundation
import NIOCore

/// One of the page's files.
struct WebFile: Equatable {
    /// The path under `/web/`.
    let path: String
    let contents: ByteBuffer
    /// The media type, by the path's extension.
    let mediaType: String
    /// A strong validator (RFC 9110, section 8.8.3) of the contents.
    let entityTag: String

    init(path: String, contents: ByteBuffer) {
        self.path = path
        self.contents = contents
        mediaType =
            Self.mediaTypes[path.split(separator: ".").last.map(String.init) ?? ""] ?? "application/octet-stream"
        entityTag = "\"\(String(Self.digest(contents), radix: 16))\""
    }

    private static let mediaTypes = [
        "html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8",
        "json": "application/json", "webmanifest": "application/manifest+json", "svg": "image/svg+xml",
        "png": "image/png", "ico": "image/x-icon", "woff2": "font/woff2", "txt": "text/plain; charset=utf-8",
    ]

    /// The 64-bit FNV-1a hash. A validator need only tell one build's files from another's.
    private static func digest(_ contents: ByteBuffer) -> UInt64 {
        contents.readableBytesView.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}

/// All of the page's files, by path.
struct WebFiles: Sendable {
    private let files: [String: WebFile]

    init(_ files: [WebFile]) {
        self.files = Dictionary(files.map { ($0.path, $0) }) { first, _ in first }
    }

    subscript(path: String) -> WebFile? { files[path] }

    /// The files that were built into the program.
    static let embedded = WebFiles(
        EmbeddedWebFiles.all.map { path, base64 in
            WebFile(path: path, contents: ByteBuffer(bytes: Data(base64Encoded: base64) ?? Data()))
        })
}
