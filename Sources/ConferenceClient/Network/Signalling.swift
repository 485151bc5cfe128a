import HTTPTransfer
import NIOCore
import NIOPosix

/// Requests to a room's relay, each over a connection of its own.
struct Signalling: Sendable {
    /// An answer with a larger body is refused. A room's state has about 3 kB for each participant.
    private static let maximumBodySize = 4 << 20
    private static let connectTime = Duration.seconds(5)
    private static let answerTime = Duration.seconds(10)
    private static let retryInterval = Duration.seconds(2)

    private let url: RoomURL

    init(_ url: RoomURL) {
        self.url = url
    }

    /// Sends a request and waits for the answer.
    ///
    /// - Throws: `ClientError.relayUnreachable` when no whole answer comes in time, or `.relayNotTrusted`.
    func exchange(
        _ method: HTTPClient.Method, _ path: String, contentType: String? = nil, body: String = "", pin: String? = nil
    ) async throws(ClientError) -> HTTPClient.Answer {
        var request = request(method, path)
        request.add("Connection", "close")
        if let pin { request.add("Room-PIN", pin) }
        if let key = url.moderatorKey { request.add("Moderator-Key", key) }
        if let contentType { request.add("Content-Type", contentType) }
        request.body = Array(body.utf8)
        let client = makeClient()
        let answer: Result<HTTPClient.Answer, HTTPFailure>
        do {
            answer = .success(
                try await client.perform(
                    request, within: Self.connectTime + Self.answerTime, upTo: Self.maximumBodySize))
        } catch {
            answer = .failure(error)
        }
        // The program may end next, and then no thread may be using OpenSSL any more.
        await client.close()
        return try answer.mapError { ClientError($0, at: url) }.get()
    }

    /// Hands out the room's events until the task is cancelled, and connects again whenever the connection ends.
    func followEvents(_ receive: @Sendable ([EventStreamParser.Event]) -> Void) async {
        let client = makeClient()
        repeat {
            let parts = try? await client.open(eventsRequest, within: Self.connectTime + Self.answerTime)
            guard let parts, parts.head.status == 200 else { continue }
            var parser = EventStreamParser()
            while let part = try? await parts.next() { receive(parser.append(part)) }
        } while (try? await Task.sleep(for: Self.retryInterval)) != nil
        await client.close()
    }

    var eventsRequest: HTTPClient.Request {
        var request = request(.get, "\(url.path)/events")
        request.add("Accept", "text/event-stream")
        return request
    }

    /// Ends a participant, or its waiting in a lobby. The relay may be gone, and then there is nothing to end.
    func end(_ path: String) async { _ = try? await exchange(.delete, path) }

    /// Connects to the relay without a request.
    ///
    /// - Returns: This end's address: one that reaches the relay.
    /// - Throws: `ClientError.relayUnreachable`.
    func localAddress(on eventLoop: any EventLoop) async throws(ClientError) -> String {
        do {
            let channel = try await ClientBootstrap(group: eventLoop)
                .connectTimeout(TimeAmount(Self.connectTime)).connect(host: url.host, port: url.port).get()
            let address = channel.localAddress?.ipAddress
            channel.close(promise: nil)
            if let address { return address }
        } catch {
            throw ClientError(HTTPFailure(connecting: error), at: url)
        }
        throw .failed(reason: "the machine has no address")
    }

    private func makeClient() -> HTTPClient {
        HTTPClient(connectingWithin: Self.connectTime, tls: HTTPClient.TLS(trusted: url.trustedCertificates))
    }

    private func request(_ method: HTTPClient.Method, _ path: String) -> HTTPClient.Request {
        var request = HTTPClient.Request(method, url.address(of: path))
        request.add("User-Agent", "confclient")
        if let token = url.token { request.add("Authorization", "Bearer \(token)") }
        return request
    }
}

extension HTTPFailure {
    /// The same failure of a connection without requests.
    fileprivate init(connecting error: any Error) {
        switch error {
        case let error as NIOConnectionError where error.connectionErrors.isEmpty:
            self = .nameNotFound(host: error.host)
        case let error as NIOConnectionError:
            self = error.connectionErrors.first.map { HTTPFailure(connecting: $0.error) } ?? .timedOut
        case let error as IOError: self = .notConnected(code: error.errnoCode)
        case ChannelError.connectTimeout: self = .timedOut
        default: self = .failed("\(error)")
        }
    }
}
