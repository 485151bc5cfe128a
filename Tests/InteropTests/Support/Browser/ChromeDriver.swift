import Foundation
import FoundationNetworking
import Testing

/// A running `chromedriver`, which speaks WebDriver (W3C) over HTTP, and the browsers it drives.
final class ChromeDriver {
    /// Whether Chromium and its driver are there.
    static let isInstalled = Programs.areInstalled("chromium", "chromedriver")

    private let child: ChildProcess
    private let port: Int
    private let session: URLSession

    /// - Parameter launcher: A program with its arguments that starts chromedriver; none: directly.
    /// - Parameter host: Where it listens; it then takes connections from anywhere.
    init(in folder: TemporaryFolder, launcher: [String] = [], host: String = "127.0.0.1") async throws {
        let driver = try #require(Programs.installed("chromedriver")).path
        var command = launcher + [driver, "--port=0"]
        if host != "127.0.0.1" { command += ["--allowed-ips=", "--allowed-origins=*"] }
        let program = try #require(Programs.installed(command[0]) ?? URL(fileURLWithPath: command[0]))
        let child = try ChildProcess(program, Array(command.dropFirst()), in: folder)
        self.child = child
        port = try await eventually("chromedriver listens; it wrote: \(child.errors)", within: .seconds(20)) {
            child.output.firstMatch(of: #/started successfully on port (\d+)/#).flatMap { Int($0.1) }
        }
        self.host = host
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 90
        session = URLSession(configuration: configuration)
    }

    private let host: String

    deinit {
        session.invalidateAndCancel()
    }

    /// Sends a command.
    ///
    /// - Returns: The answer's `value`, as JSON.
    @discardableResult
    func command(_ method: String, _ path: String, _ body: [String: Any] = [:]) async throws -> Data {
        let url = try #require(URL(string: "http://\(host):\(port)\(path)"))
        var request = URLRequest(url: url)
        request.httpMethod = method
        if method == "POST" {
            request.httpBody = try JSONSerialization.data(withJSONObject: body)
            request.setValue("application/json; charset=utf-8", forHTTPHeaderField: "Content-Type")
        }
        let (data, response) = try await session.data(for: request)
        let answer = try JSONSerialization.jsonObject(with: data) as? [String: Any]
        let value = answer?["value"] ?? NSNull()
        guard (response as? HTTPURLResponse)?.statusCode == 200 else {
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
