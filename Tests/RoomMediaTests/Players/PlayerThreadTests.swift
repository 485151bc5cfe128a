import Foundation
import MediaCore
import RoomAPI
import Synchronization
import Testing

@testable import RoomMedia

/// The thread of one player.
@Suite struct PlayerThreadTests {
    /// Silence as a WAV file: 8 kHz, 16 bits, mono.
    private static func silence(seconds: UInt32) -> Data {
        func bytes(_ value: UInt32, _ count: Int = 4) -> [UInt8] { (0..<count).map { UInt8(value >> ($0 * 8) & 0xFF) } }
        let size = seconds * 16_000
        let format = bytes(16) + bytes(1, 2) + bytes(1, 2) + bytes(8000) + bytes(16_000) + bytes(2, 2) + bytes(16, 2)
        var file = Data("RIFF".utf8 + bytes(size + 36))
        file.append(contentsOf: "WAVEfmt ".utf8 + format)
        file.append(contentsOf: "data".utf8 + bytes(size))
        file.append(Data(count: Int(size)))
        return file
    }

    @Test("a film begins at the place that is asked for", arguments: [(3, 3), (99, 5)])
    func place(wanted: Int, begun: Double) async throws {
        let folder = FileManager.default.temporaryDirectory
        let file = folder.appendingPathComponent("confrelay-\(UUID().uuidString).wav")
        try Self.silence(seconds: 5).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let states = Mutex<[PlayerStatus.State]>([])
        let thread = PlayerThread(
            .file(file.lastPathComponent), rules: PlayerRules(folder: folder.path),
            status: PlayerStatus(id: "p1", name: "Talk", state: .opening), settings: PlayerSettings(isPaused: true),
            place: .seconds(wanted),
            output: .init(
                show: { _, _ in }, encoded: { _, _, _ in true }, play: { _ in },
                tell: { status in states.withLock { $0.append(status.state) } }))
        try await eventually { states.withLock { $0.last == .paused || $0.last == .ended } }
        #expect(states.withLock { $0.last } == .paused)
        // When it is opened, the thread tells where it stands.
        try await eventually { thread.description(url: "").position == begun }
        for (position, reached) in [(2.0, 2.0), (60, 5), (1, 1)] {
            thread.change(PlayerChange(position: position))
            try await eventually { thread.description(url: "").position == reached }
        }
        thread.change(PlayerChange(paused: false))
        try await eventually { thread.description(url: "").position > 1 }
        thread.end()
        await thread.waitUntilFinished(timeout: .seconds(60))
    }
}
