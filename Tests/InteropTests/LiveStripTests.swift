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
    private static let transition = Duration.seconds(2)

    @Test("a participant joins, shares a screen, is followed by a pin, and leaves, as someone else sees it")
    func strip() async throws {
        let output = try #require(stripFolder)
        try FileManager.default.createDirectory(atPath: output, withIntermediateDirectories: true)
        let folder = try TemporaryFolder()
        let relay = try await RelayProgram(
            ["--canvas", "320x180", "--frame-rate", "15", "--transition", "2s"], in: folder)
        let driver = try await ChromeDriver(in: folder)
        let room = relay.url("/rooms/demo")
        func client(_ arguments: [String]) throws -> ChildProcess {
            try ChildProcess(Programs.product("confclient"), arguments, in: folder)
        }
        let others = try ["Ada", "Ben"].map { name in
            try client([
                "join", room, "--name", name, "--size", "320x180", "--frame-rate", "15", "--audio", "none", "--quiet",
            ])
        }
        for name in ["Ada", "Ben"] { try await relay.participant(name, in: "demo") { $0.uplink.framesDecoded > 10 } }
        let cy = try await Person("Cy", .blue, tone: 990, driver, in: folder)
        let result: Result<[Duration], any Error>
        do {
            try await cy.browser.open(relay.url("/rooms/demo"))
            try await cy.browser.wait(
                for: "the camera", until: "document.getElementById('preview-video').videoWidth > 0")
            try await cy.browser.type("Cy", into: "#own-name")
            let viewer = try client([
                "join", room, "--name", "Viewer", "--video", "none", "--audio", "none", "--record", "seen.mp4",
                "--quiet",
            ])
            try await relay.participant("Viewer", in: "demo") { $0.downlink.framesEncoded > 0 }
            let start = ContinuousClock.now
            try await Task.sleep(for: .seconds(3))
            let changes = try await act(cy, relay, client).map { $0 - start }
            viewer.signal(SIGINT)
            #expect(try await viewer.end(within: .seconds(20)) == 0, "\(viewer.errors)")
            result = .success(changes)
        } catch {
            result = .failure(error)
        }
        await cy.browser.close()
        for other in others { other.signal(SIGINT) }
        var times = [Duration.seconds(2)]
        for change in try result.get() {
            times += [change + Self.transition / 2, change + Self.transition * 2]
        }
        for (index, time) in times.enumerated() {
            let seconds = Double(time.components.seconds) + Double(time.components.attoseconds) * 1e-18
            let play = try client([
                "play", "seen.mp4", "--start", String(format: "%.2fs", seconds), "--duration", "0.05s",
                "--as-fast-as-possible", "--quiet", "--output", "picture-%d.png",
            ])
            #expect(try await play.end(within: .seconds(60)) == 0, "\(play.errors)")
            let picture = URL(fileURLWithPath: output).appendingPathComponent("live-\(index + 1).png")
            try? FileManager.default.removeItem(at: picture)
            try FileManager.default.moveItem(at: folder.file("picture-1.png"), to: picture)
        }
        withExtendedLifetime((relay, driver, folder)) {}
    }

    /// Performs the actions that the strip shows, with time to look at each.
    ///
    /// - Returns: The time at which the picture began to change.
    private func act(
        _ cy: Person, _ relay: RelayProgram, _ client: ([String]) throws -> ChildProcess
    ) async throws -> [ContinuousClock.Instant] {
        var changes: [ContinuousClock.Instant] = []
        func changed() async throws {
            changes.append(.now)
            try await Task.sleep(for: Self.transition * 3)
        }
        try await cy.browser.click("#join-button")
        try await relay.participant("Cy", in: "demo")
        try await changed()
        try await cy.browser.click("#share")
        try await relay.participant("Cy", in: "demo") { $0.screenShare != nil }
        try await changed()
        let pin = try client(["layout", relay.url("/rooms/demo"), "pinned", "--participant", "Ada", "--for", "Viewer"])
        #expect(try await pin.end(within: .seconds(20)) == 0, "\(pin.errors)")
        try await changed()
        try await cy.browser.click("#leave")
        try await changed()
        return changes
    }
}
