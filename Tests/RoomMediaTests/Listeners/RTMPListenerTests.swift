import Dispatch
import Logging
import MediaFiles
import NIOCore
import NIOPosix
import SecureTransport
import Testing

@testable import RoomMedia

/// A publisher's connection by RTMP, over a socket.
@Suite struct RTMPListenerTests {
    /// Lets a stream in once the test says so.
    private final class Door: StreamAdmitting {
        private let (requests, request) = AsyncStream.makeStream(of: PushedStream.self)
        private let (opening, opened) = AsyncStream.makeStream(of: Never.self)

        func admit(
            _ stream: PushedStream, room: String, key: String, from address: TransportAddress?
        ) async throws(StreamRefusal) {
            request.yield(stream)
            for await _ in opening {}
        }

        func nextRequest() async -> PushedStream? { await requests.first { _ in true } }

        func open() { opened.finish() }
    }

    /// Reads so many bytes of a stream, on a thread that may wait for them.
    private func read(_ count: Int, of stream: PushedStream) async -> [UInt8] {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                var read: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 65_536)
                if let bytes = try? stream.open(stream.url) {
                    while read.count < count,
                        let part = try? buffer.withUnsafeMutableBytes({
                            try bytes.read(into: $0, at: Int64(read.count))
                        }),
                        part > 0
                    {
                        read += buffer[..<part]
                    }
                }
                continuation.resume(returning: read)
            }
        }
    }

    @Test("what a publisher sends before it is let in is read afterwards, however much it is", .timeLimit(.minutes(1)))
    func early() async throws {
        let door = Door()
        let listener = try await RTMPListener.bind(
            host: "127.0.0.1", port: 0, admission: door, logger: Logger(label: "test"))
        defer { listener.close() }
        let client = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: try #require(listener.port)).get()
        var publisher = RTMPPublisher()
        publisher.publish("demo", key: "Studio")
        publisher.message(9, ByteBuffer(bytes: [1, 2, 3]), stream: 1)
        publisher.setChunkSize(65_536)
        publisher.message(9, ByteBuffer(repeating: 4, count: 5_000_000), stream: 1)
        client.writeAndFlush(publisher.take(), promise: nil)
        let stream = try #require(await door.nextRequest())
        door.open()
        let wanted = 13 + (11 + 3 + 4) + (11 + 5_000_000 + 4)
        let bytes = await read(wanted, of: stream)
        #expect(bytes.count == wanted)
        #expect(Array(bytes.dropFirst(13 + 11).prefix(3)) == [1, 2, 3])
        try await client.close()
    }
}
