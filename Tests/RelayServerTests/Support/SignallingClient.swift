import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import MediaCore
import NIOCore
import NIOPosix
import SecureTransport
import Synchronization

@testable import RelayServer
@testable import RoomMedia

/// Sends requests to a signalling router around a relay's twin, without a socket.
struct SignallingClient {
    /// The answer to a request.
    struct Answer {
        var status: HTTPResponse.Status
        var headers: HTTPFields
        var body: String

        /// The JSON document's fields.
        var json: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]) ?? [:]
        }

        /// The detail of a problem document.
        var detail: String { json["detail"] as? String ?? "" }
    }

    private struct Source: RequestContextSource {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    }

    static let loopback = TransportAddress(ipv4: 0x7F00_0001, port: 50_000)

    static let sessions = {
        var generator = SeededGenerator(seed: 1)
        return SessionNames(using: &generator)
    }()

    /// The path of a participant's session in the room `demo`.
    static func session(_ participant: String) -> String {
        (try? sessions.name(of: participant, in: RoomName("demo"))) ?? "?"
    }

    let script = TwinRelay.Script()
    var isEncrypted = false
    var iceServers: [ICEServer] = []
    var turnSecret: TURNSecret?
    var webFiles = WebFiles.embedded
    var sites: SitePolicy?
    var clients = ClientDirectory()
    var quotas = RequestQuotas()
    var keys: KeyStore?
    var spent = SpentTokens()
    /// Seconds since 1970, for tokens.
    var time: @Sendable () -> Double = { 1_700_000_000 }
    var hasAdministrationAddress = false
    var recordings: RecordingStore?
    var streams: LiveStreams?
    var outputRules: HostRules?
    var playerRules: PlayerRules?
    var cluster: ClusterService?
    /// The `Host` field.
    var authority = "relay"
    var now: @Sendable () -> MonotonicInstant = { .now() }

    /// Sends a request to a driver, which is closed afterwards unless it is given.
    func send(
        _ method: HTTPRequest.Method, _ path: String, headers: HTTPFields = [:], body: String = "",
        bytes: ByteBuffer? = nil, from peer: TransportAddress? = loopback
    ) async throws -> Answer {
        let driver = RelayDriver(eventLoop: MultiThreadedEventLoopGroup.singleton.next(), workerCount: 1) { [script] in
            TwinRelay(script)
        }
        let answer = try await answer(driver, method, path, headers: headers, body: body, bytes: bytes, from: peer)
        await driver.close()
        return answer
    }

    /// Sends a request to a driver.
    func answer(
        _ driver: RelayDriver, _ method: HTTPRequest.Method, _ path: String, headers: HTTPFields = [:],
        body: String = "", bytes: ByteBuffer? = nil, from peer: TransportAddress? = loopback
    ) async throws -> Answer {
        let response = try await respond(driver, method, path, headers: headers, body: body, bytes: bytes, from: peer)
        let collector = Collector()
        try await response.body.write(collector)
        return Answer(
            status: response.status, headers: response.headers, body: String(buffer: collector.buffer.withLock { $0 }))
    }

    func makeRouter(_ driver: RelayDriver) -> SignallingRouter {
        SignallingRouter(
            driver: driver, mediaPort: 7000, isEncrypted: isEncrypted, isLocalAddress: { $0.host == "192.0.2.10" },
            iceServers: iceServers, turnSecret: turnSecret, sessions: Self.sessions,
            recordings: recordings, streams: streams, outputRules: outputRules, playerRules: playerRules,
            webFiles: webFiles, sites: sites ?? SitePolicy(isEncrypted: isEncrypted), clients: clients, quotas: quotas,
            access: AccessControl(
                keys: keys, driver: driver, sessions: Self.sessions, quotas: quotas, now: now, time: time,
                spent: spent),
            hasAdministrationAddress: hasAdministrationAddress, cluster: cluster, now: now)
    }

    /// A response whose body is not written yet.
    func respond(
        _ driver: RelayDriver, _ method: HTTPRequest.Method, _ path: String, headers: HTTPFields = [:],
        body: String = "", bytes: ByteBuffer? = nil, from peer: TransportAddress? = loopback
    ) async throws -> Response {
        let router = makeRouter(driver).makeRouter().buildResponder()
        var head = HTTPRequest(method: method, scheme: "http", authority: authority, path: path)
        head.headerFields = headers
        let request = Request(head: head, body: RequestBody(buffer: bytes ?? ByteBuffer(string: body)))
        return try await router.respond(to: request, context: SignallingContext(source: Source(), peer: peer))
    }
}

/// Collects the parts of a response.
private final class Collector: ResponseBodyWriter, Sendable {
    let buffer = Mutex(ByteBuffer())

    func write(_ part: ByteBuffer) async throws {
        buffer.withLock { _ = $0.writeImmutableBuffer(part) }
    }

    func finish(_ trailers: HTTPFields?) async throws {}
}
