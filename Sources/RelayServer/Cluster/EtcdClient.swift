import Cluster
import Foundation
import HTTPTransfer
import Synchronization

/// Speaks to etcd by its JSON gateway (etcd 3.4 and newer, `/v3/…`).
///
/// Each request is tried once, at one endpoint, within two seconds; after a failure the next request goes to the next
/// endpoint. The directory decides which requests it repeats.
final class EtcdClient: DirectoryEngine {
    private struct State {
        var clients: Clients
        /// What the clients make connections with.
        var tls: HTTPClient.TLS
        var isClosed = false
        var endpoint = 0
        /// What requests are shown as; nil: there is no user, or it has not said its password yet.
        var token: String?
        /// The password that was read last.
        var password: String?
    }

    private enum Use {
        case leases, others
    }

    /// A client has few requests under way to a server at once. The renewal of a lease must wait neither for the watch
    /// nor for any number of changes that etcd is slow to make: without it the relay loses its rooms.
    private struct Clients {
        private let leases: HTTPClient
        private let others: HTTPClient

        init(_ tls: HTTPClient.TLS) {
            leases = HTTPClient(connectingWithin: .seconds(1), tls: tls)
            others = HTTPClient(connectingWithin: .seconds(1), tls: tls)
        }

        subscript(use: Use) -> HTTPClient {
            switch use {
            case .leases: leases
            case .others: others
            }
        }

        func close() async {
            await leases.close()
            await others.close()
        }
    }

    private let settings: EtcdSettings
    private let timeout: Duration
    private let state: Mutex<State>

    /// The longest answer that is read: a page of the largest values.
    private static let longestAnswer = 64 << 20
    /// The most of an answer that is no JSON, in bytes, that an error tells.
    private static let longestReason = 200
    /// Keys of a page: so many values of the largest size, in Base64, are no longer than `longestAnswer`.
    private static let pageSize: Int64 = 300

    /// - Parameter timeout: The longest that a request may take.
    /// - Throws: Why the files of TLS cannot be used.
    init(_ settings: EtcdSettings, timeout: Duration = .seconds(2)) throws(StartupError) {
        self.settings = settings
        self.timeout = timeout
        let tls = try settings.readTLSFiles()
        state = Mutex(State(clients: Clients(tls), tls: tls))
    }

    func close() async {
        let clients = state.withLock { state in
            state.isClosed = true
            return state.clients
        }
        await clients.close()
    }

    /// True if there are files to read again.
    var hasFiles: Bool { settings.trustedCertificates != nil || settings.certificate != nil }

    /// Reads the files of TLS again. If they have changed, requests that are under way fail, and the directory repeats
    /// them.
    ///
    /// - Throws: Why the files cannot be used. The earlier ones stay in use.
    func readFilesAgain() async throws(StartupError) {
        let tls = try settings.readTLSFiles()
        let unused = state.withLock { state -> Clients? in
            // The watch ends with its client, and the relay is outside its cluster until there is another.
            guard !state.isClosed, tls != state.tls else { return nil }
            defer { (state.clients, state.tls) = (Clients(tls), tls) }
            return state.clients
        }
        await unused?.close()
    }

    func perform(_ request: DirectoryRequest) async -> DirectoryResponse {
        let endpoint = state.withLock { $0.endpoint }
        do throws(EtcdError) {
            return try await answer(to: request)
        } catch {
            leave(endpoint, after: error)
            return .failed(reason: error.description)
        }
    }

    /// Goes to the next endpoint, if the failure is that of one, and no other request has left it.
    private func leave(_ endpoint: Int, after error: EtcdError) {
        guard error.isOfEndpoint else { return }
        state.withLock { state in
            guard state.endpoint == endpoint else { return }
            state.endpoint = (endpoint + 1) % max(1, settings.endpoints.count)
        }
    }

    private func answer(to request: DirectoryRequest) async throws(EtcdError) -> DirectoryResponse {
        switch request {
        case .grantLease(let timeToLive):
            let seconds = max(1, timeToLive.components.seconds)
            let lease = try await exchange(
                "lease/grant", Etcd.LeaseRequest(timeToLive: Etcd.Number(seconds)), as: Etcd.LeaseResponse.self,
                for: .leases)
            guard let id = lease.id?.value, let granted = lease.timeToLive?.value, granted > 0 else {
                throw .refused(lease.error ?? "no lease was granted")
            }
            return .lease(LeaseID(rawValue: id), timeToLive: .seconds(granted))
        case .renewLease(let id):
            let lease = try await exchange(
                "lease/keepalive", Etcd.LeaseRequest(id: Etcd.Number(id.rawValue)),
                as: Etcd.Streamed<Etcd.LeaseResponse>.self, for: .leases)
            guard let result = lease.result else { throw lease.error?.error ?? .refused("no answer") }
            guard let left = result.timeToLive?.value, left > 0 else { return .leaseEnded }
            return .lease(id, timeToLive: .seconds(left))
        case .endLease(let id):
            _ = try await exchange(
                "lease/revoke", Etcd.LeaseRequest(id: Etcd.Number(id.rawValue)), as: Etcd.LeaseResponse.self,
                for: .leases)
            return .leaseEnded
        case .read(let from, let revision):
            let range = try await exchange(
                "kv/range",
                Etcd.RangeRequest(
                    key: Data(from.utf8), rangeEnd: Etcd.rootEnd, limit: Etcd.Number(Self.pageSize),
                    revision: revision.map { Etcd.Number($0) }),
                as: Etcd.RangeResponse.self)
            guard let current = range.header?.revision?.value else { throw .refused("the answer has no revision") }
            return .page((range.kvs ?? []).compactMap(\.entry), revision: current, hasMore: range.more ?? false)
        case .commit(let transaction):
            return try await exchange(
                "kv/txn", Etcd.TransactionRequest(transaction), as: Etcd.TransactionResponse.self
            ).response
        case .watch: throw .refused("a watch is no single request")
        }
    }

    // MARK: Watches

    func watch(from revision: Int64, tell: @Sendable (DirectoryNews) async -> Void) async {
        var isIncomplete = false
        let endpoint = state.withLock { $0.endpoint }
        do {
            isIncomplete = try await followChanges(from: revision, tell: tell)
        } catch {
            // A broken watch is made anew by the directory.
            if let error = error as? EtcdError { leave(endpoint, after: error) }
        }
        await tell(.ended(isIncomplete: isIncomplete))
    }

    /// - Returns: Whether changes were forgotten before they could be told.
    private func followChanges(
        from revision: Int64, tell: @Sendable (DirectoryNews) async -> Void
    ) async throws -> Bool {
        let token = try await token(for: .others)
        let request = try request(
            "watch",
            Etcd.WatchRequest(
                createRequest: .init(
                    key: Etcd.root, rangeEnd: Etcd.rootEnd, startRevision: Etcd.Number(revision))),
            token: token)
        let client = state.withLock { $0.clients[.others] }
        let parts: HTTPParts
        do throws(HTTPFailure) {
            // The directory gives a watch up that does not begin.
            parts = try await client.open(request, within: nil)
        } catch {
            throw EtcdError.unreachable("\(request.url): \(error)")
        }
        let status = parts.head.status
        guard status == 200 else { throw EtcdError(status: status, reason: "status \(status)") }
        var lines = LineSplitter(limit: Self.longestAnswer)
        while let part = try await parts.next() {
            for line in try lines.append(part) {
                let message = try JSONDecoder().decode(Etcd.Streamed<Etcd.WatchResponse>.self, from: line)
                guard let result = message.result else {
                    throw message.error?.error ?? EtcdError.refused("no result")
                }
                for news in result.news {
                    if case .ended(let isIncomplete) = news {
                        // An etcd that was started again knows no tokens of before, and ends a watch alike whatever
                        // the reason. Without a watch the directory asks for little else that needs a token.
                        if !isIncomplete { state.withLock { if $0.token == token { $0.token = nil } } }
                        return isIncomplete
                    }
                    await tell(news)
                }
            }
        }
        return false
    }

    // MARK: Requests

    private func request(
        _ path: String, _ message: some Encodable, token: String?
    ) throws(EtcdError) -> HTTPClient.Request {
        let index = state.withLock { $0.endpoint }
        guard settings.endpoints.indices.contains(index) else { throw .refused("no endpoint is given") }
        var request = HTTPClient.Request(.post, "\(settings.endpoints[index].url)/v3/\(path)")
        request.add("Content-Type", "application/json")
        if let token { request.add("Authorization", token) }
        // Numbers, strings and Base64 always encode.
        request.body = (try? JSONEncoder().encode(message)).map { Array($0) } ?? []
        return request
    }

    private func exchange<Answer: Decodable>(
        _ path: String, _ message: some Encodable, as type: Answer.Type, for use: Use = .others
    ) async throws(EtcdError) -> Answer {
        let token = try await token(for: use)
        do {
            return try await send(path, message, token: token, as: type, for: use)
        } catch .tokenExpired where settings.user != nil {
            let next = try await self.token(insteadOf: token, for: use)
            return try await send(path, message, token: next, as: type, for: use)
        }
    }

    /// What a request is shown as. The user says the password if there is no token.
    ///
    /// - Parameter refused: A token that etcd does not know. The user has another one where another request, which was
    ///   refused with the same, has logged in meanwhile: that one stays in use.
    /// - Returns: nil: there is no user.
    private func token(insteadOf refused: String? = nil, for use: Use) async throws(EtcdError) -> String? {
        guard let user = settings.user else { return nil }
        if let token = state.withLock({ $0.token }), token != refused { return token }
        let answer = try await send(
            "auth/authenticate", Etcd.AuthenticationRequest(name: user, password: try readPassword()), token: nil,
            as: Etcd.AuthenticationResponse.self, for: use)
        guard let token = answer.token else { throw .refused("etcd gave no token") }
        state.withLock { $0.token = token }
        return token
    }

    /// Reads the user's password. Where that is not possible, the one of before is used.
    private func readPassword() throws(EtcdError) -> String {
        guard let file = settings.passwordFile else { return "" }
        let read = EtcdSettings.password(in: file)
        let password = state.withLock { state in
            state.password = read ?? state.password
            return state.password
        }
        guard let password else {
            throw .refused("the file \(file) cannot be read, or its first line is empty (--cluster-password)")
        }
        return password
    }

    private func send<Answer: Decodable>(
        _ path: String, _ message: some Encodable, token: String?, as type: Answer.Type, for use: Use
    ) async throws(EtcdError) -> Answer {
        let request = try request(path, message, token: token)
        let client = state.withLock { $0.clients[use] }
        let answer: HTTPClient.Answer
        do throws(HTTPFailure) {
            answer = try await client.perform(request, within: timeout, upTo: Self.longestAnswer)
        } catch {
            throw .unreachable("\(request.url): \(error)")
        }
        let bytes = Data(answer.body)
        guard answer.status == 200 else {
            let failure = try? JSONDecoder().decode(Etcd.Failure.self, from: bytes)
            // A token with a signature is refused once any user of etcd has changed.
            let isOld = failure?.error?.hasSuffix("revision of auth store is old") ?? false
            if answer.status == 401 || isOld { throw .tokenExpired }
            let text = String(decoding: bytes.prefix(Self.longestReason), as: UTF8.self)
                .trimmingCharacters(in: .whitespacesAndNewlines)
            throw EtcdError(
                status: answer.status,
                reason: failure?.error ?? failure?.message ?? "\(request.url): status \(answer.status) \(text)")
        }
        do {
            return try JSONDecoder().decode(type, from: bytes)
        } catch {
            throw .refused("\(request.url): its answer is not etcd's: \(error)")
        }
    }
}

/// Why etcd did not do what it was asked for.
enum EtcdError: Error, CustomStringConvertible {
    case unreachable(String)
    /// It could not do it, as one that sees no leader.
    case failed(String)
    case refused(String)
    case tokenExpired

    /// - Parameter status: An answer's other than 200.
    init(status: Int, reason: String) {
        self = status >= 500 ? .failed(reason) : .refused(reason)
    }

    /// True if another endpoint may do better.
    var isOfEndpoint: Bool {
        switch self {
        case .unreachable, .failed: true
        case .refused, .tokenExpired: false
        }
    }

    var description: String {
        switch self {
        case .unreachable(let reason): "etcd does not answer: \(reason)"
        case .failed(let reason): "etcd fails: \(reason)"
        case .refused(let reason): "etcd refuses: \(reason)"
        case .tokenExpired: "etcd does not accept the user or its token (--cluster-user)"
        }
    }
}

/// Splits a stream of bytes into lines.
struct LineSplitter {
    private var rest = Data()
    /// The longest line.
    let limit: Int

    init(limit: Int) { self.limit = limit }

    /// - Throws: `EtcdError.refused` for a line that is too long.
    mutating func append(_ part: [UInt8]) throws(EtcdError) -> [Data] {
        var lines: [Data] = []
        var view = part[...]
        while let end = view.firstIndex(of: 0x0A) {
            rest.append(contentsOf: view[..<end])
            if !rest.isEmpty { lines.append(rest) }
            rest = Data()
            view = view[view.index(after: end)...]
        }
        guard rest.count + view.count <= limit else { throw .refused("a message of its watch is too long") }
        rest.append(contentsOf: view)
        return lines
    }
}
