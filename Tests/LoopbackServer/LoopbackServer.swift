import Foundation
package import OpenSSLClient

/// A server on a port of 127.0.0.1 that does to each connection what a test says, on a thread of its own.
public final class LoopbackServer: Sendable {
    public struct NotOpen: Error {
        public var reason: String
    }

    public let port: Int
    private let listener: Listener

    /// - Parameters:
    ///   - certificate: Nil: the server speaks no TLS.
    ///   - serve: Called for each connection, which ends when it returns.
    package init(
        _ certificate: BareCertificate? = nil, serve: @escaping @Sendable (LoopbackConnection) -> Void
    ) throws {
        let listener = Listener(socket: try Self.bind())
        guard listen(listener.socket, 512) == 0 else { throw NotOpen(reason: String(cString: strerror(errno))) }
        self.listener = listener
        port = try Self.port(of: listener.socket)
        let context = try certificate.map { try LoopbackTLS($0) }
        Thread.detachNewThread {
            while true {
                let socket = accept(listener.socket, nil, nil)
                guard socket >= 0 else { return }
                Thread.detachNewThread {
                    guard let connection = LoopbackConnection(socket, context) else { return }
                    serve(connection)
                }
            }
        }
    }

    deinit { close() }

    /// Takes no more connections.
    public func close() { shutdown(listener.socket, Int32(SHUT_RDWR)) }

    /// Calls `body` with a port at which nobody listens.
    public static func withUnusedPort(_ body: (Int) async throws -> Void) async throws {
        let socket = try bind()
        defer { Foundation.close(socket) }
        try await body(try port(of: socket))
    }

    private static func bind() throws -> Int32 {
        let socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { Foundation.bind(socket, $0, size) == 0 }
        }
        guard isBound else { throw NotOpen(reason: String(cString: strerror(errno))) }
        return socket
    }

    private static func port(of socket: Int32) throws -> Int {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isKnown = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &size) == 0 }
        }
        guard isKnown else { throw NotOpen(reason: String(cString: strerror(errno))) }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}

/// The socket at which connections arrive. It is closed when neither the server nor its thread has it any more: the
/// system would give its number to another server at once, whose connections the thread would then take.
private final class Listener: Sendable {
    let socket: Int32

    init(socket: Int32) { self.socket = socket }

    deinit { close(socket) }
}

/// A connection of a `LoopbackServer`, on its thread.
public final class LoopbackConnection {
    /// A request as it came.
    public struct Request: Sendable {
        /// The request line and the fields, each with its line's end.
        public var head: String
        public var body: String

        /// The path of `POST /path HTTP/1.1`.
        public var path: String { head.split(separator: " ").dropFirst().first.map(String.init) ?? "" }
    }

    private let socket: Int32
    private let session: LoopbackTLS.Session?
    private var unread: [UInt8] = []

    /// Nil if the client accepts no TLS from this server.
    init?(_ socket: Int32, _ context: LoopbackTLS?) {
        self.socket = socket
        if let context {
            session = context.accept(socket)
            if session == nil {
                Foundation.close(socket)
                return nil
            }
        } else {
            session = nil
        }
    }

    deinit {
        session?.end()
        Foundation.close(socket)
    }

    /// The next request; nil: the client has closed the connection.
    public func readRequest() -> Request? {
        let separator = Array("\r\n\r\n".utf8)
        while true {
            if let end = unread.firstRange(of: separator) {
                let head = String(decoding: unread[..<(end.lowerBound + 2)], as: UTF8.self)
                let length =
                    head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length:") }
                    .flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) } ?? 0
                if unread.count >= end.upperBound + length {
                    let body = String(decoding: unread[end.upperBound..<(end.upperBound + length)], as: UTF8.self)
                    unread.removeFirst(end.upperBound + length)
                    return Request(head: head, body: body)
                }
            }
            guard receive() else { return nil }
        }
    }

    /// Sends text. Returns false if the client has closed the connection.
    @discardableResult public func send(_ text: String) -> Bool {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { bytes in
                session?.write(bytes)
                    ?? Foundation.send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            bytes = bytes.dropFirst(count)
        }
        return true
    }

    /// Sends an answer with a body.
    @discardableResult public func answer(_ status: Int = 200, _ body: String = "", fields: String = "") -> Bool {
        send("HTTP/1.1 \(status) Said\r\nContent-Length: \(body.utf8.count)\r\n\(fields)\r\n\(body)")
    }

    /// Waits until the client closes the connection.
    public func waitForEnd() {
        while receive() { unread = [] }
    }

    private func receive() -> Bool {
        var part = [UInt8](repeating: 0, count: 65_536)
        let count = part.withUnsafeMutableBytes { part in
            session?.read(part) ?? recv(socket, part.baseAddress, part.count, 0)
        }
        guard count > 0 else { return false }
        unread += part.prefix(count)
        return true
    }
}
