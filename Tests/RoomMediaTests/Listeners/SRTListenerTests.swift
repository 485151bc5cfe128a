import Dispatch
import Logging
import MediaFiles
import NIOCore
import SecureTransport
import Testing

@testable import RoomMedia

/// A publisher's connection by SRT, over a socket.
@Suite struct SRTListenerTests {
    private struct Request {
        var room: String
        var key: String
        var address: TransportAddress?
    }

    /// Takes every stream, and tells what it asked for.
    private final class Door: StreamAdmitting {
        private let (requests, request) = AsyncStream.makeStream(of: Request.self)

        func admit(
            _ stream: PushedStream, room: String, key: String, from address: TransportAddress?
        ) async throws(StreamRefusal) {
            request.yield(Request(room: room, key: key, address: address))
        }

        func nextRequest() async -> Request? { await requests.first { _ in true } }
    }

    /// What a listener sees of a publisher.
    private func request(
        at address: String, by host: String, streamID: String = "demo/Studio"
    ) async throws -> Request {
        let door = Door()
        let listener = try SRTListener(
            SocketAddress(ipAddress: address, port: 0), admission: door, logger: Logger(label: "test"))
        defer { listener.close() }
        let destination = StreamDestination(
            url: "srt://\(host):\(listener.port)", options: ["streamid": streamID, "protocol_whitelist": "srt"],
            container: .mpegTS, name: "srt")
        DispatchQueue.global().async {
            _ = try? StreamWriter.Connection(to: destination) { false }
        }
        return try #require(await door.nextRequest())
    }

    @Test(
        "at all addresses it takes publishers by IPv4 and by IPv6",
        .enabled(if: LocalAddresses.all().contains { $0.isIPv6 }), .timeLimit(.minutes(1)),
        arguments: ["127.0.0.1", "[::1]"])
    func allAddresses(host: String) async throws {
        let address = try #require(await request(at: "::", by: host).address)
        #expect(address.unmapped.isLoopback)
    }

    @Test("a stream id is read up to the greatest length that SRT permits", .timeLimit(.minutes(1)))
    func longestStreamID() async throws {
        let key = String(repeating: "k", count: 512 - "demo/".count)
        let request = try await request(at: "127.0.0.1", by: "127.0.0.1", streamID: "demo/\(key)")
        #expect(request.room == "demo" && request.key == key)
    }
}
