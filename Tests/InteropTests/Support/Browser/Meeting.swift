/// A person who will join, with the colour of the camera and the tone of the microphone.
struct Guest {
    let name: String
    let colour: PersonColour
    /// Hertz.
    let tone: Double

    static let ada = Guest(name: "Ada", colour: .red, tone: 440)
    static let ben = Guest(name: "Ben", colour: .green, tone: 660)
    static let cy = Guest(name: "Cy", colour: .blue, tone: 990)
}

extension RelayProgram {
    /// Small pictures, so that browsers without a graphics card keep up.
    static let browserOptions = ["--canvas", "640x360", "--frame-rate", "15"]
}

/// A relay and some guests' browsers, which are closed whatever becomes of the test.
func meet(
    _ guests: [Guest], relay options: [String] = RelayProgram.browserOptions, isDetailed: Bool = false,
    _ body: (RelayProgram, [Person], TemporaryFolder) async throws -> Void
) async throws {
    let folder = try TemporaryFolder()
    let driver = try await ChromeDriver(in: folder)
    var here: [Person] = []
    let result: Result<Void, any Error>
    do {
        for guest in guests {
            here.append(
                try await Person(
                    guest.name, guest.colour, tone: guest.tone, isDetailed: isDetailed, driver, in: folder))
        }
        let relay = try await RelayProgram(options, in: folder)
        result = .success(try await body(relay, here, folder))
    } catch {
        result = .failure(error)
    }
    for person in here { await person.browser.close() }
    withExtendedLifetime((driver, folder)) {}
    try result.get()
}

/// The page at `/` in a window of the suite's browser. With options it has a browser of its own, which is closed
/// whatever becomes of the test.
func withPage(_ options: Browser.Options? = nil, _ body: (Browser) async throws -> Void) async throws {
    let folder = try TemporaryFolder()
    let relay = try await RelayProgram(in: folder)
    defer { withExtendedLifetime((relay, folder)) {} }
    if options == nil, let browser = SharedBrowser.current {
        return try await browser.withWindow {
            try await browser.open(relay.url("/"))
            try await body(browser)
        }
    }
    let browser = try await Browser(ChromeDriver(in: folder), options ?? Browser.Options())
    let result: Result<Void, any Error>
    do {
        try await browser.open(relay.url("/"))
        result = .success(try await body(browser))
    } catch {
        result = .failure(error)
    }
    await browser.close()
    try result.get()
}
