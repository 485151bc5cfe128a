import Foundation
import HTTPTypes
import MediaCore
import NIOCore
import Synchronization
import Testing

@testable import RelayServer
@testable import RoomMedia

/// Requests that wait for what a live stream has next.
@Suite struct LiveStreamTests {
    private let stream = LiveStream()

    private func begin(parts: Int = 0) {
        stream.update { window in
            if window.last == nil { window.setInitialization(ByteBuffer(string: "init")) }
            window.beginSegment(at: Date(timeIntervalSince1970: 0))
        }
        for _ in 0..<parts { append() }
    }

    private func append() {
        stream.update {
            $0.append(
                LiveWindow.Part(
                    bytes: ByteBuffer(string: "part"), duration: .milliseconds(333), isIndependent: true))
        }
    }

    /// Returns when the request needs it no more.
    private static func never() async {
        try? await Task.sleep(for: .seconds(3600))
    }

    /// Returns when so many requests wait.
    private func untilWaiting(_ count: Int) async throws {
        try await eventually { stream.waiterCount >= count }
    }

    @Test("a request for a part that is there is answered at once, one for the next part when that is there")
    func blocks() async throws {
        begin(parts: 2)
        let first = try await stream.playlist(segment: 1, part: 1, after: Self.never)
        #expect(first.contains("part-1-1.m4s"))
        async let next = stream.playlist(segment: 1, part: 2, after: Self.never)
        async let bytes = stream.bytes(of: .part(.init(segment: 1, part: 2)), after: Self.never)
        try await untilWaiting(2)
        append()
        #expect(try await next.contains("URI=\"part-1-2.m4s\""))
        #expect(try await bytes == ByteBuffer(string: "part"))
        #expect(stream.waiterCount == 0)
    }

    @Test("a request for a whole segment waits until the next one has begun")
    func segment() async throws {
        begin(parts: 6)
        async let next = stream.playlist(segment: 1, after: Self.never)
        try await untilWaiting(1)
        append()
        #expect(stream.waiterCount == 1)
        begin()
        #expect(try await next.contains("segment-1.m4s"))
    }

    @Test("the first request waits for the first segment, which every player can play")
    func first() async throws {
        async let playlist = stream.playlist(after: Self.never)
        try await untilWaiting(1)
        begin(parts: 6)
        #expect(stream.waiterCount == 1)
        begin(parts: 1)
        let text = try await playlist
        #expect(text.contains("segment-1.m4s") && text.contains("part-2-0.m4s"))
    }

    @Test("a request that waited for too long, or whose client has gone, is answered and forgotten")
    func givenUp() async throws {
        begin(parts: 1)
        await #expect(throws: LiveStream.Refusal.notReady) { try await stream.playlist(segment: 2, after: {}) }
        let task = Task { try await stream.playlist(segment: 2, after: Self.never) }
        try await untilWaiting(1)
        task.cancel()
        await #expect(throws: (any Error).self) { try await task.value }
        #expect(stream.waiterCount == 0)
    }

    @Test("a request for what is far ahead, or gone, is refused")
    func far() async {
        begin(parts: 1)
        await #expect(throws: LiveStream.Refusal.notOffered) {
            try await stream.playlist(segment: 9, after: Self.never)
        }
        await #expect(throws: LiveStream.Refusal.notOffered) {
            try await stream.bytes(of: .part(.init(segment: 1, part: 5)), after: Self.never)
        }
        await #expect(throws: LiveStream.Refusal.notOffered) {
            try await stream.bytes(of: .segment(1), after: Self.never)
        }
    }

    @Test("no more requests wait than have room")
    func many() async {
        begin(parts: 1)
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<(LiveStream.maximumWaiters + 5) {
                group.addTask { [stream] in (try? await stream.playlist(segment: 1, after: Self.never)) != nil }
            }
            var refused = 0
            for _ in 0..<5 where await group.next() == false { refused += 1 }
            #expect(refused == 5)
            begin()
            var served = 0
            for await isServed in group where isServed { served += 1 }
            #expect(served == LiveStream.maximumWaiters)
        }
    }

    @Test("the end answers all that wait")
    func end() async throws {
        begin(parts: 1)
        async let next = stream.playlist(segment: 1, part: 1, after: Self.never)
        try await untilWaiting(1)
        stream.update { $0.end() }
        #expect(try await next.hasSuffix("#EXT-X-ENDLIST\n"))
    }

    @Test("no cache keeps the pieces of a stream, as those of the room's next one have the same names")
    func notKept() async throws {
        begin(parts: 1)
        begin()
        let streams = LiveStreams()
        streams["demo"] = stream
        var client = SignallingClient()
        client.streams = streams
        for file in ["live.m3u8", "init-1.mp4", "segment-1.m4s", "part-1-0.m4s"] {
            let answer = try await client.send(.get, "/rooms/demo/stream/\(file)")
            #expect(answer.status == .ok && answer.headers[.cacheControl] == "no-store", "\(file)")
        }
    }
}
