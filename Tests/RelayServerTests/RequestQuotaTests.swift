import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import MediaCore
import NIOPosix
import RoomAPI
import RoomMedia
import SecureTransport
import Synchronization
import Testing

@testable import Conference
@testable import RelayServer
@testable import RoomMedia

@Suite("How often one client may ask")
struct RequestQuotaTests {
    private static let start = MonotonicInstant.now()
    private static let elsewhere = TransportAddress(ipv4: 0xC000_0207, port: 1)

    /// A client whose clock stands still.
    private func makeClient() -> SignallingClient {
        var client = SignallingClient()
        client.now = { Self.start }
        client.script.state.withLock { $0.snapshot.rooms = [RoomSnapshot(id: "demo")] }
        return client
    }

    @Test("joins and changes beyond the burst get 429 and when to try again; other addresses go on")
    func tooMany() async throws {
        let client = makeClient()
        for (method, path, type, kind) in [
            (HTTPRequest.Method.post, "/rooms/demo/participants", "application/sdp", RequestQuotas.Kind.join),
            (.put, "/rooms/demo/layout", "application/json", .change),
        ] {
            let body = method == .post ? "v=0\r\n" : #"{"layout":"grid"}"#
            for _ in 0..<Int(kind.limits.burst) {
                let answer = try await client.send(method, path, headers: [.contentType: type], body: body)
                #expect(answer.status != .tooManyRequests)
            }
            let refused = try await client.send(method, path, headers: [.contentType: type], body: body)
            #expect(refused.status == .tooManyRequests)
            #expect(refused.headers[.retryAfter] == "1")
            let other = try await client.send(
                method, path, headers: [.contentType: type], body: body, from: Self.elsewhere)
            #expect(other.status != .tooManyRequests)
            #expect(try await client.send(.get, "/rooms/demo").status == .ok)
        }
    }

    @Test("a long JSON body counts for many requests, and so does one in chunks")
    func longBodies() async throws {
        let body = "[" + String(repeating: "1,", count: 30_000) + "1]"
        for (field, value, cost) in [
            (HTTPField.Name.contentLength, "\(body.utf8.count)", 15), (.transferEncoding, "chunked", 17),
        ] {
            let client = makeClient()
            let put = { (body: String, headers: HTTPFields) in
                var headers = headers
                headers[.contentType] = "application/json"
                return try await client.send(.put, "/rooms/demo/layout", headers: headers, body: body).status
            }
            for _ in 0..<200 / cost { #expect(try await put(body, [field: value]) == .badRequest) }
            #expect(try await put(body, [field: value]) == .tooManyRequests)
            #expect(try await put("[]", [.contentLength: "2"]) == .badRequest)
        }
    }

    @Test("what was used comes back with time")
    func refill() {
        let quotas = RequestQuotas()
        let subject = RequestQuotas.Subject.identity("ada")
        for _ in 0..<5 { #expect(quotas.take(.wrongSecret, of: subject, now: Self.start) == nil) }
        #expect(quotas.take(.wrongSecret, of: subject, now: Self.start) == 10)
        #expect(quotas.secondsToWait(.wrongSecret, of: subject, now: Self.start + .seconds(9)) == 1)
        #expect(quotas.take(.wrongSecret, of: subject, now: Self.start + .seconds(10)) == nil)
    }

    @Test("a client is forgotten only after thousands of others came")
    func bound() {
        let quotas = RequestQuotas()
        let network = { RequestQuotas.Subject.network(ClientNetwork(TransportAddress(ipv4: $0, port: 1))) }
        for _ in 0..<5 { _ = quotas.take(.wrongSecret, of: network(0), now: Self.start) }
        for other in 1...4000 { _ = quotas.take(.wrongSecret, of: network(UInt32(other)), now: Self.start) }
        #expect(quotas.take(.wrongSecret, of: network(0), now: Self.start) != nil)
        for other in 1...20_000 { _ = quotas.take(.wrongSecret, of: network(UInt32(other)), now: Self.start) }
        #expect(quotas.take(.wrongSecret, of: network(0), now: Self.start) == nil)
    }

    @Test("a room's wrong PINs are remembered, however many clients come")
    func manyNetworks() {
        let quotas = RequestQuotas()
        let room = RequestQuotas.Subject.room("demo")
        for _ in 0..<50 { #expect(quotas.take(.wrongPIN, of: room, now: Self.start) == nil) }
        for other in 1...20_000 {
            let network = ClientNetwork(TransportAddress(ipv4: UInt32(other), port: 1))
            _ = quotas.take(.join, of: .network(network), now: Self.start)
        }
        #expect(quotas.secondsToWait(.wrongPIN, of: room, now: Self.start) == 2)
    }

    private struct Source: RequestContextSource {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    }

    @Test("right PINs that come at once from one address are all let in; of wrong ones five are looked at")
    func manyPINs() async throws {
        let client = makeClient()
        let record = try await RoomPIN().record(of: "271828")
        client.script.state.withLock { $0.access = ["demo": RoomAccess(pin: record)] }
        let driver = RelayDriver(eventLoop: MultiThreadedEventLoopGroup.singleton.next(), workerCount: 1) {
            TwinRelay(client.script)
        }
        let access = client.makeRouter(driver).access
        let check = { @Sendable (pin: String) async -> HTTPResponse.Status in
            var context = SignallingContext(source: Source(), peer: nil)
            context.client = Self.elsewhere
            do throws(Problem) {
                let proven = try await access.check(pin: pin, of: RoomName("demo"), inherited: nil, context)
                return proven == nil ? .notFound : .ok
            } catch {
                return error.status
            }
        }
        let answers = { @Sendable (pin: String) async -> [HTTPResponse.Status: Int] in
            await withTaskGroup(of: HTTPResponse.Status.self) { group in
                for _ in 0..<20 { group.addTask { await check(pin) } }
                var counts: [HTTPResponse.Status: Int] = [:]
                for await status in group { counts[status, default: 0] += 1 }
                return counts
            }
        }
        #expect(await answers("271828") == [.ok: 20])
        #expect(await answers("000000") == [.unauthorized: 5, .tooManyRequests: 15])
        await driver.close()
    }

    @Test("a PIN that was right takes no slow hash again, for the last 64 rooms; each wrong one takes one")
    func provenPIN() async throws {
        let hashes = Mutex(0)
        let pins = RoomPIN { pin, salt in
            hashes.withLock { $0 += 1 }
            return SecureHash.sha256(pin + salt)
        }
        /// The slow hashes that a number of checks take.
        func cost(of pin: String, _ record: [UInt8], isRight: Bool, times: Int = 1) async throws -> Int {
            let before = hashes.withLock { $0 }
            for _ in 0..<times { #expect(try await pins.matches(pin, record: record) == isRight) }
            return hashes.withLock { $0 } - before
        }
        let record = try await pins.record(of: "271828")
        #expect(try await cost(of: "000000", record, isRight: false, times: 5) == 5)
        #expect(try await cost(of: "271828", record, isRight: true, times: 100) == 1)
        #expect(try await cost(of: "000000", record, isRight: false, times: 5) == 5)
        #expect(try await cost(of: "271828", try await pins.record(of: "314159"), isRight: false) == 1)
        for room in 1...64 {
            #expect(try await cost(of: "271828", try await pins.record(of: "271828"), isRight: true) == 1, "\(room)")
        }
        #expect(try await cost(of: "271828", record, isRight: true, times: 2) == 1)
    }

    @Test("avatars beyond a hundred from one address get 429, and are not read")
    func avatars() async throws {
        let client = makeClient()
        let path = "/rooms/demo/participants/\(SignallingClient.session("p1"))/avatar"
        let put = { (peer: TransportAddress) in
            try await client.send(.put, path, headers: [.contentType: "image/png"], body: "no PNG", from: peer).status
        }
        for _ in 0..<100 { #expect(try await put(Self.elsewhere) == .unprocessableContent) }
        #expect(try await put(Self.elsewhere) == .tooManyRequests)
        #expect(try await put(SignallingClient.loopback) == .unprocessableContent)
    }

    @Test("an address gives five PINs at once, and a room gets five; other changes go on")
    func newPINs() async throws {
        let client = makeClient()
        let session = "Bearer \(SignallingClient.session("p1"))"
        client.script.state.withLock { state in
            state.access = ["demo": RoomAccess()]
            state.grants = ["p1": MemberGrants(role: .moderator)]
        }
        let put = { (entry: String, peer: TransportAddress) in
            try await client.send(
                .put, "/rooms/demo/entry", headers: [.contentType: "application/json", .authorization: session],
                body: entry, from: peer)
        }
        for _ in 0..<5 { #expect(try await put(#"{"pin":"271828"}"#, Self.elsewhere).status == .noContent) }
        for peer in [Self.elsewhere, SignallingClient.loopback] {
            let refused = try await put(#"{"pin":"271828"}"#, peer)
            #expect(refused.status == .tooManyRequests && refused.headers[.retryAfter] == "4")
            #expect(try await put(#"{"locked":true,"pin":""}"#, peer).status == .noContent)
        }
    }

    @Test("one address can hold half of the streams of events, and gets them back when they end")
    func streams() async throws {
        let client = makeClient()
        client.script.state.withLock { $0.rooms = ["demo": RoomState(id: "demo")] }
        let driver = RelayDriver(eventLoop: MultiThreadedEventLoopGroup.singleton.next(), workerCount: 1) {
            TwinRelay(client.script)
        }
        var held: [Any] = []
        for _ in 0..<RoomFeedHub.maximumSubscribers / 2 {
            let response = try await client.respond(driver, .get, "/rooms/demo/events")
            #expect(response.status == .ok)
            held.append(response)
        }
        #expect(try await client.respond(driver, .get, "/rooms/demo/events").status == .tooManyRequests)
        let other = try await client.respond(driver, .get, "/rooms/demo/events", from: Self.elsewhere)
        #expect(other.status == .ok)
        held = []
        #expect(try await client.respond(driver, .get, "/rooms/demo/events").status == .ok)
        await driver.close()
    }

    @Test("a client is its address, or what a proxy that the operator names saw last; others cannot claim one")
    func directory() throws {
        let proxy = TransportAddress(ipv4: 0x0A00_0001, port: 0)
        let directory = ClientDirectory(trustedProxies: [try #require(NetworkPrefix(parsing: "10.0.0.0/24"))])
        let request = { (forwardedFor: String?) in
            var request = HTTPRequest(method: .get, scheme: "http", authority: "relay", path: "/")
            request.headerFields[.xForwardedFor] = forwardedFor
            return request
        }
        #expect(directory.client(of: request(nil), peer: Self.elsewhere) == Self.elsewhere)
        #expect(directory.client(of: request("203.0.113.9"), peer: Self.elsewhere) == Self.elsewhere)
        #expect(directory.client(of: request("1.2.3.4, 203.0.113.9"), peer: proxy)?.host == "203.0.113.9")
        for text in ["203.0.113.9:5000", "198.51.100.7, [2001:db8::7]:5000", "[2001:db8::7]"] {
            let host = text.contains("203") ? "203.0.113.9" : "2001:db8::7"
            #expect(directory.client(of: request(text), peer: proxy)?.host == host)
        }
        for text in ["unknown", "_hidden:5000", "203.0.113.9:", "203.0.113.9:5000:1", ""] {
            #expect(directory.client(of: request(text), peer: proxy) == nil, "\(text)")
        }
        #expect(directory.client(of: request(nil), peer: proxy) == nil)
        #expect(directory.client(of: request("203.0.113.9"), peer: SignallingClient.loopback) == nil)
    }
}
