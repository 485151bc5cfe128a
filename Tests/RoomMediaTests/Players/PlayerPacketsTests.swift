import Foundation
import MediaCore
import RoomAPI
import Testing

@testable import RoomMedia

/// The end and the seeks of a player's packets.
@Suite struct PlayerPacketsTests {
    private func isEnd(_ next: PlayerPackets.Next, _ reason: PlayerStatus.Reason?) -> Bool {
        guard case .end(let failure) = next else { return false }
        return failure?.reason == reason
    }

    /// Tells the end on a thread of its own, which waits for what follows.
    private func tellEnd(_ packets: PlayerPackets, _ failure: PlayerFailure?) -> Task<PlayerPackets.Order, Never> {
        Task {
            await withCheckedContinuation { continuation in
                DispatchQueue(label: "reader").async { continuation.resume(returning: packets.tellEnd(failure)) }
            }
        }
    }

    @Test("the end stays until a seek, which the reader is told of")
    func seek() async throws {
        let packets = PlayerPackets()
        let reader = tellEnd(packets, nil)
        try await eventually { packets.end != nil }
        #expect(isEnd(packets.next(), nil) && isEnd(packets.next(), nil))
        packets.seek(to: .seconds(3))
        #expect(await reader.value == .seek(.seconds(3)))
        guard case .nothing = packets.next() else {
            Issue.record("something is left of before")
            return
        }
    }

    @Test("a reader that has failed tells it again after a seek")
    func seekAfterFailure() async throws {
        let folder = FileManager.default.temporaryDirectory.path
        let reader = PlayerReader(
            .file("\(UUID().uuidString).mp4"), rules: PlayerRules(folder: folder), turn: 0, place: .zero)
        for _ in 0..<2 {
            try await eventually { reader.packets.end != nil }
            #expect(isEnd(reader.packets.next(), .notFound))
            reader.packets.seek(to: .seconds(3))
        }
        reader.stop()
        reader.waitUntilFinished()
    }

    @Test("the end of a live stream comes while it is paused")
    func endWhilePaused() async throws {
        let packets = PlayerPackets()
        let reader = tellEnd(packets, PlayerFailure(reason: .connectionLost))
        try await eventually { packets.end != nil }
        let opened = PlayerReader.Opened(
            video: nil, audio: nil, duration: nil, isSeekable: false, isLive: true, place: .zero)
        var session = try PlayerSession(opened, packets, settings: PlayerSettings(isPaused: true))
        let now = MonotonicInstant(nanoseconds: 1_000_000_000)
        session.decode(now: now)
        guard case .end = session.next(now: now) else {
            Issue.record("it goes on")
            return
        }
        #expect(session.failure?.reason == .connectionLost)
        packets.close()
        #expect(await reader.value == .stop)
    }

    @Test("a reader that waits at the end stops when the player does")
    func close() async throws {
        let packets = PlayerPackets()
        let reader = tellEnd(packets, PlayerFailure(reason: .failed))
        try await eventually { packets.end != nil }
        #expect(isEnd(packets.next(), .failed))
        packets.close()
        #expect(await reader.value == .stop)
    }
}
