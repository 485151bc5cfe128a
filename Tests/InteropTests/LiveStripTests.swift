import Foundation
import Glibc
import Testing

/// The folder that the pictures go to.
private let stripFolder = ProcessInfo.processInfo.environment["CONFRELAY_STRIP"]

/// Makes the pictures of docs/layouts.md from a live room: scripts/draw-live-strip.sh runs it.
@Suite(
    "A live room, picture by picture", .serialized,
    .enabled(
        if: stripFolder != nil && ChromeDriver.isInstalled,
        "scripts/draw-live-strip.sh asks for it, which names the folder and needs chromium"))
struct LiveStripTests {
    /// Slow enough to be caught in the middle.
    private static let transition = "1s"
    private static let frameRate = 20

    @Test("a participant joins, shares a screen, pins and leaves, as someone else sees it")
    func strip() async throws {
        let output = try #require(stripFolder)
        let folder = try TemporaryFolder()
        let relay = try await RelayProgram(
            ["--canvas", "320x180", "--frame-rate", "\(Self.frameRate)", "--transition", Self.transition], in: folder)
        let driver = try await ChromeDriver(in: folder)
        let room = relay.url("/rooms/demo")
        func client(_ arguments: [String]) throws -> ChildProcess {
            try ChildProcess(Programs.product("confclient"), arguments, in: folder)
        }
        let others = try ["Ada", "Ben"].map { name in
            try client(["join", room, "--name", name, "--size", "320x180", "--frame-rate", "15", "--quiet"])
        }
        for name in ["Ada", "Ben"] { try await relay.participant(name, in: "demo") }
        let cy = try await Person("Cy", .blue, tone: 990, driver, in: folder)
        let result: Result<Void, any Error>
        do {
            try await cy.browser.open(relay.url("/rooms/demo"))
            try await cy.browser.wait(
                for: "the camera", until: "document.getElementById('preview-video').videoWidth > 0")
            try await cy.browser.type("Cy", into: "#own-name")
            let viewer = try client([
                "join", room, "--name", "Viewer", "--video", "none", "--audio", "none", "--record", "seen.mp4",
                "--stats", "seen.json", "--quiet",
            ])
            try await relay.participant("Viewer", in: "demo") { $0.downlink.framesEncoded > 5 }
            try await Task.sleep(for: .seconds(2))
            try await act(cy, relay, client)
            try await Task.sleep(for: .seconds(3))
            viewer.signal(SIGINT)
            #expect(try await viewer.end(within: .seconds(20)) == 0, "\(viewer.errors)")
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await cy.browser.close()
        for other in others { other.signal(SIGINT) }
        try result.get()
        try FileManager.default.createDirectory(atPath: output, withIntermediateDirectories: true)
        let play = try client([
            "play", "seen.mp4", "--as-fast-as-possible", "--quiet", "--output", "\(output)/%04d.png",
        ])
        #expect(try await play.end(within: .seconds(60)) == 0, "\(play.errors)")
        withExtendedLifetime((relay, driver, folder)) {}
    }

    /// What the participant does, four seconds apart once it can be seen.
    private func act(_ cy: Person, _ relay: RelayProgram, _ client: ([String]) throws -> ChildProcess) async throws {
        try await cy.browser.click("#join-button")
        try await relay.participant("Cy", in: "demo") { $0.uplink.framesDecoded > 10 }
        try await Task.sleep(for: .seconds(4))
        try await cy.browser.click("#share")
        try await Task.sleep(for: .seconds(5))
        let pin = try client(["layout", relay.url("/rooms/demo"), "pinned", "--participant", "Ada", "--for", "Viewer"])
        #expect(try await pin.end(within: .seconds(20)) == 0, "\(pin.errors)")
        try await Task.sleep(for: .seconds(4))
        try await cy.browser.click("#leave")
    }
}
