import Foundation
import Testing

/// A headless Chromium with one window, driven as a person would: by clicks and keys.
final class Browser: Sendable {
    /// The options with which it is started.
    struct Options {
        /// The camera's picture, as Y4M; nil: Chromium's own.
        var camera: URL?
        /// The microphone's audio, as WAV; nil: Chromium's own.
        var microphone: URL?
        /// True if there is a camera and a microphone.
        var hasDevices = true
        /// True if the person lets pages use them.
        var allowsDevices = true
        var size = (width: 1280, height: 800)
    }

    private let driver: ChromeDriver
    private let path: String

    init(_ driver: ChromeDriver, _ options: Options = Options()) async throws {
        self.driver = driver
        var arguments = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--mute-audio",
            "--window-size=\(options.size.width),\(options.size.height)",
            "--auto-select-desktop-capture-source=Entire screen",
            // Several browsers share few cores here; none of them is to take itself for a background one.
            "--disable-background-timer-throttling", "--disable-renderer-backgrounding",
            "--disable-backgrounding-occluded-windows",
        ]
        if options.allowsDevices { arguments.append("--use-fake-ui-for-media-stream") }
        if options.hasDevices { arguments.append("--use-fake-device-for-media-stream") }
        if let camera = options.camera { arguments.append("--use-file-for-fake-video-capture=\(camera.path)") }
        if let microphone = options.microphone {
            arguments.append("--use-file-for-fake-audio-capture=\(microphone.path)")
        }
        let capabilities: [String: Any] = [
            "browserName": "chrome",
            "goog:chromeOptions": ["args": arguments],
            "goog:loggingPrefs": ["browser": "ALL"],
            "timeouts": ["script": 60_000, "pageLoad": 60_000, "implicit": 0],
        ]
        struct Session: Decodable { var sessionId: String }
        let data = try await driver.command(
            "POST", "/session", ["capabilities": ["alwaysMatch": capabilities]])
        path = "/session/\(try JSONDecoder().decode(Session.self, from: data).sessionId)"
        try await addProbe()
        if !options.allowsDevices {
            for name in ["camera", "microphone"] {
                try await execute("Browser.setPermission", ["permission": ["name": name], "setting": "denied"])
            }
        }
    }

    /// Ends the browser.
    func close() async {
        _ = try? await driver.command("DELETE", path)
    }

    /// Opens another window, to which all commands go until it is closed.
    func withWindow(_ body: () async throws -> Void) async throws {
        struct Window: Decodable { var handle: String }
        let before = try JSONDecoder().decode(String.self, from: try await driver.command("GET", "\(path)/window"))
        let data = try await driver.command("POST", "\(path)/window/new", ["type": "tab"])
        let window = try JSONDecoder().decode(Window.self, from: data)
        try await driver.command("POST", "\(path)/window", ["handle": window.handle])
        let result: Result<Void, any Error>
        do {
            try await addProbe()
            // Of the windows before.
            _ = try await console()
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        _ = try? await driver.command("DELETE", "\(path)/window")
        _ = try? await driver.command("POST", "\(path)/window", ["handle": before])
        try result.get()
    }

    private func addProbe() async throws {
        try await execute("Page.addScriptToEvaluateOnNewDocument", ["source": PageProbe.script])
    }

    // MARK: What a person does

    func open(_ url: String) async throws {
        try await driver.command("POST", "\(path)/url", ["url": url])
    }

    func reload() async throws {
        try await driver.command("POST", "\(path)/refresh")
    }

    /// Clicks on a visible element; fails if something else is in front of it.
    func click(_ selector: String) async throws {
        try await driver.command("POST", "\(path)/element/\(element(selector))/click")
    }

    /// Clears a field and types into it.
    func type(_ text: String, into selector: String) async throws {
        let element = try await element(selector)
        try await driver.command("POST", "\(path)/element/\(element)/clear")
        try await driver.command("POST", "\(path)/element/\(element)/value", ["text": text])
    }

    /// Types into the element that has the focus.
    ///
    /// - Parameter keys: Characters; WebDriver has code points of its own for keys such as Tab.
    func press(_ keys: String) async throws {
        let actions = keys.flatMap { key in
            ["keyDown", "keyUp"].map { ["type": $0, "value": String(key)] }
        }
        try await driver.command(
            "POST", "\(path)/actions", ["actions": [["type": "key", "id": "keyboard", "actions": actions]]])
    }

    private func element(_ selector: String) async throws -> String {
        let data = try await driver.command(
            "POST", "\(path)/element", ["using": "css selector", "value": selector])
        let reference = try JSONDecoder().decode([String: String].self, from: data)
        return try #require(reference.values.first)
    }

    // MARK: What is looked at

    /// The value of an asynchronous JavaScript function with this body.
    func evaluate<Value: Decodable>(_ body: String, as type: Value.Type = Value.self) async throws -> Value {
        let script = """
            const done = arguments[arguments.length - 1];
            (async () => { \(body) })().then(
                (value) => done({ value: JSON.stringify(value ?? null) }), (error) => done({ error: String(error) }));
            """
        let data = try await driver.command("POST", "\(path)/execute/async", ["script": script, "args": []])
        let outcome = try JSONDecoder().decode(ScriptOutcome.self, from: data)
        guard let value = outcome.value else {
            throw BrowserError(command: body, message: outcome.error ?? "no value")
        }
        return try JSONDecoder().decode(Value.self, from: Data(value.utf8))
    }

    /// Waits until a JavaScript expression is true.
    func wait(for what: String, within limit: Duration = .seconds(30), until expression: String) async throws {
        do {
            try await eventually(what, within: limit) {
                try await evaluate("return Boolean(\(expression));", as: Bool.self) ? true : nil
            }
        } catch let error as TimeoutError {
            let text = try await evaluate("return document.body.innerText;", as: String.self)
            throw TimeoutError(description: "\(error); the page says: \(text); its console: \(try await console())")
        }
    }

    /// The messages on the page's console, including errors of the network and of the content security policy.
    func console() async throws -> [String] {
        struct Entry: Decodable { var message: String }
        let data = try await driver.command("POST", "\(path)/se/log", ["type": "browser"])
        return try JSONDecoder().decode([Entry].self, from: data).map(\.message)
    }

    func screenshot(to file: URL) async throws {
        let data = try await driver.command("GET", "\(path)/screenshot")
        let text = try JSONDecoder().decode(String.self, from: data)
        try #require(Data(base64Encoded: text)).write(to: file)
    }

    /// A command of the Chrome DevTools protocol.
    func execute(_ command: String, _ parameters: [String: Any]) async throws {
        try await driver.command("POST", "\(path)/goog/cdp/execute", ["cmd": command, "params": parameters])
    }
}

/// The result of a script.
private struct ScriptOutcome: Decodable {
    /// The returned value, as JSON.
    var value: String?
    /// The error that was thrown.
    var error: String?
}
