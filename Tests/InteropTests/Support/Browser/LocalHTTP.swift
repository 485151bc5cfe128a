import Foundation
import Glibc

/// Sends one HTTP request at a time to a program on this machine. `URLSession` refuses chromedriver's answers, whose
/// header fields have no space after the colon.
enum LocalHTTP {
    struct Response {
        var status: Int
        var body: Data
    }

    /// The reason that there is no answer.
    enum Failure: Error {
        case noConnection(code: Int32)
        case brokenConnection(code: Int32)
        case malformedAnswer
    }

    /// Sends a request, and waits for its answer as long as the program takes.
    static func send(
        _ method: String, _ path: String, body: Data?, port: UInt16
    ) async throws -> Response {
        var head = "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n"
        if let body { head += "Content-Type: application/json; charset=utf-8\r\nContent-Length: \(body.count)\r\n" }
        let request = Data((head + "\r\n").utf8) + (body ?? Data())
        return try await withCheckedThrowingContinuation { continuation in
            // It blocks, which threads of the concurrency pool must not.
            DispatchQueue.global().async {
                continuation.resume(with: Result { try exchange(request, port: port) })
            }
        }
    }

    private static func exchange(_ request: Data, port: UInt16) throws -> Response {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        let code = withUnsafeBytes(of: &address) { bytes in
            connect(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(bytes.count))
        }
        guard code == 0 else { throw Failure.noConnection(code: errno) }
        var sent = 0
        while sent < request.count {
            let count = request.withUnsafeBytes {
                Glibc.send(
                    descriptor, $0.baseAddress.map { $0 + sent }, request.count - sent, CInt(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Failure.brokenConnection(code: errno) }
            sent += count
        }
        var answer = Data()
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            if let response = try parse(answer) { return response }
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count >= 0 else { throw Failure.brokenConnection(code: errno) }
            guard count > 0 else { throw Failure.malformedAnswer }
            answer.append(contentsOf: buffer.prefix(count))
        }
    }

    /// The answer, when it is complete.
    private static func parse(_ answer: Data) throws -> Response? {
        guard let end = answer.range(of: Data("\r\n\r\n".utf8)) else { return nil }
        let lines = String(decoding: answer[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let status = lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) }
        let length = lines.dropFirst().lazy.map { $0.split(separator: ":", maxSplits: 1) }
            .first { $0.first?.lowercased() == "content-length" }?.last
            .flatMap { Int($0.trimmingCharacters(in: .whitespaces)) }
        guard let status, let length else { throw Failure.malformedAnswer }
        let body = answer[end.upperBound...]
        return body.count < length ? nil : Response(status: status, body: Data(body.prefix(length)))
    }
}
