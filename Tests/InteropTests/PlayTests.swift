import ConferenceClient
import Foundation
import Testing

/// `confclient play` as a program: its files, output and exit codes.
@Suite("confclient play")
struct PlayTests {
    private func play(_ arguments: [String], in folder: TemporaryFolder) throws -> ChildProcess {
        try ChildProcess(Programs.product("confclient"), ["play"] + arguments, in: folder)
    }

    /// A second of ffmpeg's test picture.
    private func makeClip(in folder: TemporaryFolder) async throws {
        let ffmpeg = try #require(Programs.installed("ffmpeg"))
        let encoder = try ChildProcess(
            ffmpeg,
            [
                "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=30", "-frames:v", "30", "-c:v",
                "libx264", "-pix_fmt", "yuv420p", "clip.mp4",
            ], in: folder)
        try #require(await encoder.end(within: .seconds(60)) == 0, "\(encoder.errors)")
    }

    @Test("writes every picture of a file", .enabled(if: Programs.areInstalled("ffmpeg")))
    func pictures() async throws {
        let folder = try TemporaryFolder()
        try await makeClip(in: folder)
        let player = try play(["clip.mp4", "--as-fast-as-possible", "--output", "seen.y4m", "--json"], in: folder)
        #expect(try await player.end(within: .seconds(60)) == 0, "\(player.errors)")
        let pictures = try Data(contentsOf: folder.file("seen.y4m"))
        let pictureSize = "FRAME\n".utf8.count + 320 * 180 * 3 / 2
        #expect(pictures.starts(with: "YUV4MPEG2 W320 H180".utf8))
        #expect(pictures.count / pictureSize == 30)
    }

    @Test(
        "ends with a status for the kind of failure",
        arguments: [
            (["nothing.mp4"], 66), (["text.mp4"], 66), (["text.mp4", "--rate", "0"], 64), (["--flag"], 64),
        ] as [([String], Int32)])
    func status(arguments: [String], status: Int32) async throws {
        let folder = try TemporaryFolder()
        try Data("no movie".utf8).write(to: folder.file("text.mp4"))
        let player = try play(arguments, in: folder)
        #expect(try await player.end(within: .seconds(60)) == status)
        #expect(!player.errors.isEmpty)
    }
}
