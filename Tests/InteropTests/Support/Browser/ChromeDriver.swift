import Foundation
import Testing

/// A running `chromedriver`, which speaks WebDriver (W3C) over HTTP, and the browsers it drives.
final class ChromeDriver: Sendable {
    /// True if Chromium and its driver are there.
    static let isInstalled = Programs.areInstalled("chromium", "chromedriver")

    private let child: ChildProcess
    private let port: UInt16

    init(in folder: TemporaryFolder) async throws {
        let program = try #require(Programs.installed("chromedriver"))
        // A port that is free for IPv4 may be taken for IPv6; the program then ends and is started again.
        var child = try ChildProcess(program, ["--port=0"], in: folder)
        port = try await eventually("chromedriver listens", within: .seconds(30)) {
            if !child.isRunning { child = try ChildProcess(program, ["--port=0"], in: folder) }
            return child.output.firstMatch(of: #/started successfully on port (\d+)/#).flatMap { UInt16($0.1) }
        }
        self.child = child
    }

    /// Sends a command.
    ///
    /// - Returns: The answer's `value`, as JSON.
    @discardableResult
    func command(_ method: String, _ path: String, _ body: [String: Any] = [:]) async throws -> Data {
        let data = method == "POST" ? try JSONSerialization.data(withJSONObject: body) : nil
        let response = try await LocalHTTP.send(method, path, body: data, port: port)
        let answer = try JSONSerialization.jsonObject(with: response.body) as? [String: Any]
        let value = answer?["value"] ?? NSNull()
        guard response.status == 200 else {
            let details = value as? [String: Any]
            throw BrowserError(
                command: "\(method) \(path)", message: details?["message"] as? String ?? "\(value)")
        }
        return try JSONSerialization.data(withJSONObject: value, options: .fragmentsAllowed)
    }
}

/// A command that the browser refused, or a script that threw.
struct BrowserError: Error, CustomStringConvertible {
    var command: String
    var message: String

    var description: String { "\(command): \(message)" }
}
