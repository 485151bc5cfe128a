import Foundation
import Testing

/// Someone at a browser, with a colour in front of the camera and a tone at the microphone.
struct Person {
    let name: String
    let colour: PersonColour
    /// Hertz.
    let tone: Double
    let browser: Browser

    /// The result of `probe.received()`.
    struct Received: Decodable {
        var framesDecoded: Int
        var width: Int
        var height: Int
        var freezeCount: Int
        var frozenSeconds: Double
        var videoBytes: Int
        var bufferedSeconds: Double
        var bufferedFrames: Int
        var audioBytes: Int
        var audioPackets: Int
        var audioEnergy: Double
        var milliseconds: Double
    }

    /// One stream in the result of `probe.sent()`.
    struct Sent: Decodable {
        var framesEncoded: Int
        var width: Int
        var height: Int
    }

    init(name: String, colour: PersonColour, tone: Double, browser: Browser) {
        self.name = name
        self.colour = colour
        self.tone = tone
        self.browser = browser
    }

    /// Starts the browser with the person's devices.
    ///
    /// - Parameter isDetailed: True if the colour has a grain, which takes bits to send.
    init(
        _ name: String, _ colour: PersonColour, tone: Double, isDetailed: Bool = false, _ driver: ChromeDriver,
        in folder: TemporaryFolder
    ) async throws {
        let camera = folder.file("\(name).y4m")
        let microphone = folder.file("\(name).wav")
        var film = colour.camera
        film.isDetailed = isDetailed
        try film.write(to: camera)
        try FakeMicrophone(frequency: tone).write(to: microphone)
        let options = Browser.Options(camera: camera, microphone: microphone)
        self.init(name: name, colour: colour, tone: tone, browser: try await Browser(driver, options))
    }

    /// Joins by the page, as a person does: opens it, waits for the camera, enters a name, and clicks.
    ///
    /// - Parameter script: A script to run in the page first.
    func join(_ room: String, of relay: RelayProgram, running script: String? = nil) async throws {
        try await browser.open(relay.url("/rooms/\(room)"))
        if let script { let _: Bool = try await browser.evaluate("\(script); return true;") }
        try await browser.wait(
            for: "\(name)'s camera", until: "document.getElementById('preview-video').videoWidth > 0")
        try await browser.type(name, into: "#own-name")
        try await browser.click("#join-button")
        try await browser.wait(for: "\(name) to be in the call", until: "!document.getElementById('call').hidden")
    }

    func received() async throws -> Received { try await browser.evaluate("return probe.received();") }

    func sent() async throws -> [Sent] { try await browser.evaluate("return probe.sent();") }

    /// Waits until pictures arrive and are decoded.
    func watch(_ frames: Int = 10, within limit: Duration = .seconds(30)) async throws {
        let before = try await received().framesDecoded
        try await eventually("\(name) decodes pictures", within: limit) {
            // A new connection counts from zero.
            let now = try await received().framesDecoded
            return now >= before + frames || (now < before && now >= frames) ? true : nil
        }
    }

    /// The shares of the picture that show people's colours.
    func shares() async throws -> [PersonColour: Double] {
        let colours: [[Double]] = try await browser.evaluate("return probe.colours(32, 18);")
        var counts: [PersonColour: Double] = [:]
        for colour in colours {
            if let found = PersonColour(red: colour[0], green: colour[1], blue: colour[2]) {
                counts[found, default: 0] += 1 / Double(colours.count)
            }
        }
        return counts
    }

    /// Waits until the picture's colours are as expected.
    func see(
        _ what: String, within limit: Duration = .seconds(30), _ condition: ([PersonColour: Double]) -> Bool
    ) async throws {
        var last: [PersonColour: Double] = [:]
        do {
            try await eventually("\(name) sees \(what): \(last)", within: limit) {
                last = try await shares()
                return condition(last) ? true : nil
            }
        } catch let error as TimeoutError {
            try await browser.screenshot(to: TestOutput.file("\(name)-does-not-see-\(what).png"))
            throw error
        }
    }

    /// Waits until each of these tones, or none of them, is heard.
    func hear(_ tones: [Double], _ areHeard: Bool = true, within limit: Duration = .seconds(30)) async throws {
        var last: [Int] = []
        try await eventually("\(name) hears \(areHeard ? "" : "none of ")\(tones): \(last) of 30", within: limit) {
            last = try await browser.evaluate("return probe.tones(\(tones), 30, \(areHeard ? 8 : 30));")
            return last.allSatisfy { areHeard ? $0 >= 8 : $0 == 0 } ? true : nil
        }
    }

    /// Waits until the list of people says something of somebody; nil: nothing but that they speak.
    func read(_ text: String?, of other: String, within limit: Duration = .seconds(30)) async throws {
        let texts = text.map { [$0] } ?? ["", "speaks"]
        try await browser.wait(
            for: "the list to say \(texts) of \(other)", within: limit,
            until: """
                [...document.querySelectorAll('.person')].some((row) =>
                row.querySelector('.person-name').textContent.startsWith('\(other)')
                && \(texts).includes(row.querySelector('.person-state').textContent))
                """)
    }
}

/// Colours that survive a codec, a resize and each other.
enum PersonColour: String {
    case red, green, blue

    var camera: FakeCamera {
        switch self {
        case .red: .red
        case .green: .green
        case .blue: .blue
        }
    }

    /// The colour that these components (0 to 255) clearly are.
    init?(red: Double, green: Double, blue: Double) {
        if red > 150, green < 100, blue < 100 {
            self = .red
        } else if green > 150, red < 100, blue < 100 {
            self = .green
        } else if blue > 150, red < 110, green < 110 {
            self = .blue
        } else {
            return nil
        }
    }
}
