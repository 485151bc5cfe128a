import AsyncHTTPClient
import Foundation
import MediaFiles
import NIOCore
import NIOHTTP1
import NIOPosix
import RoomAPI
import SecureTransport
import Synchronization

/// Reads films and HLS by HTTP for libavformat, from permitted addresses only, wherever redirections and playlists
/// lead. It blocks the thread that reads.
final class HTTPMediaOpener: MediaOpener {
    /// The part of a file that is asked for at a time.
    static let pieceSize: Int64 = 1 << 20
    /// The most that is taken of a server that does not hand out parts of files.
    private static let mostWithoutRanges = 64 << 20
    private static let mostRedirections = 5
    /// A playlist may lead to another host with each of its segments.
    private static let mostClients = 16
    private static let connectPatience = TimeAmount.seconds(5)
    private static let patience = TimeAmount.seconds(15)

    private let rules: HostRules?
    /// One for each host and address: each connects to the address that was checked.
    private let clients = Mutex<[Place: HTTPClient]>([:])

    private struct Place: Hashable {
        var host: String
        var address: String
    }

    init(rules: HostRules?) {
        self.rules = rules
    }

    deinit {
        for client in clients.withLock({ $0 }).values { client.shutdown { _ in } }
    }

    func open(_ url: String) throws(StreamFailure) -> any MediaBytes {
        var url = url
        for _ in 0...Self.mostRedirections {
            let answer = try fetch(url, from: 0)
            switch answer.status.code {
            case 300..<400:
                guard let location = answer.headers.first(name: "location"), let base = URL(string: url),
                    let next = URL(string: location, relativeTo: base)
                else { throw .failed("the server sends the relay on, but not where to") }
                url = next.absoluteString
            case 200: return HTTPMediaBytes(url: url, opener: self, whole: answer.body ?? ByteBuffer())
            case 206:
                let size = try Self.size(in: answer.headers, ofPartAt: 0)
                return HTTPMediaBytes(url: url, opener: self, first: answer.body ?? ByteBuffer(), size: size)
            default: throw .failed("the server answered \(answer.status.code)")
            }
        }
        throw .failed("the server sends the relay on and on")
    }

    /// The size of a file in `bytes 0-99/1000` (RFC 9110, 14.4); nil if the server does not tell.
    ///
    /// - Throws: A failure if the server has answered with another part than the one at `offset`: a film that is put
    ///   together of such parts is damaged.
    static func size(in headers: HTTPHeaders, ofPartAt offset: Int64) throws(StreamFailure) -> Int64? {
        guard let range = headers.first(name: "content-range") else { return nil }
        let parts = range.split(separator: "/", maxSplits: 1)
        // Some servers write `bytes=0-99/1000`.
        let places = parts.first?.split { " =".contains($0) }.last
        let start = places?.split(separator: "-", omittingEmptySubsequences: false).first.flatMap { Int64($0) }
        guard start == offset else {
            throw .failed("the server answers with other parts than those that are asked for")
        }
        return parts.dropFirst().first.flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }

    /// The piece of a file that begins at `offset`.
    func fetch(_ url: String, from offset: Int64) throws(StreamFailure) -> HTTPClient.Response {
        guard case .http(let server, let url)? = try? PlayerTarget(parsing: url, longest: PlayerTarget.longestFound)
        else {
            throw .failed("it leads to something that is not read by HTTP")
        }
        let place: TransportAddress
        do throws(PlayerFailure) {
            guard rules?.mayPermit(host: server.host) ?? false else { throw PlayerFailure(reason: .notPermitted) }
            place = try PlayerRules(hosts: rules).place(of: server, turn: 0)
        } catch {
            throw .failed(
                error.reason == .nameNotFound ? "the host's name has no address" : "the host is not permitted")
        }
        do {
            var request = try HTTPClient.Request(url: url)
            request.headers.add(name: "user-agent", value: "confrelay")
            request.headers.add(name: "range", value: "bytes=\(offset)-\(offset + Self.pieceSize - 1)")
            let accumulator = ResponseAccumulator(request: request, maxBodySize: Self.mostWithoutRanges)
            return try client(for: server.host, at: place).execute(
                request: request, delegate: accumulator, deadline: .now() + Self.patience
            ).futureResult.wait()
        } catch {
            throw Self.failure(error)
        }
    }

    private func client(for host: String, at place: TransportAddress) -> HTTPClient {
        clients.withLock { clients in
            let key = Place(host: host, address: place.host)
            if let client = clients[key] { return client }
            if clients.count >= Self.mostClients {
                // One thread reads, so that none of them has a request under way.
                for client in clients.values { client.shutdown { _ in } }
                clients.removeAll()
            }
            var configuration = HTTPClient.Configuration.withoutRedirections(connectingWithin: Self.connectPatience)
            configuration.timeout.read = Self.patience
            configuration.dnsOverride = [host: place.host]
            let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
            clients[key] = client
            return client
        }
    }

    static func failure(_ error: any Error) -> StreamFailure {
        switch error {
        case let error as HTTPClientError where error.isTimeout: .timedOut
        case let error as HTTPClientError where error == .remoteConnectionClosed: .connectionLost
        case is ResponseAccumulator.ResponseTooBigError:
            .failed(
                "the server hands out no parts of files, and this one is larger than \(mostWithoutRanges >> 20) MiB")
        case is NIOConnectionError: .refused
        case let error as IOError: error.errnoCode == ECONNREFUSED ? .refused : .connectionLost
        case HTTPParserError.invalidEOFState: .connectionLost
        default: .failed("\(error)")
        }
    }
}

/// A file of an HTTP server, of which one piece is held.
private final class HTTPMediaBytes: MediaBytes {
    /// Where redirections have led.
    private let url: String
    private let opener: HTTPMediaOpener
    private(set) var count: Int64?
    private var piece: ByteBuffer
    private var pieceOffset: Int64 = 0
    private let isWhole: Bool

    init(url: String, opener: HTTPMediaOpener, whole: ByteBuffer) {
        self.url = url
        self.opener = opener
        count = Int64(whole.readableBytes)
        piece = whole
        isWhole = true
    }

    init(url: String, opener: HTTPMediaOpener, first: ByteBuffer, size: Int64?) {
        self.url = url
        self.opener = opener
        count = size
        piece = first
        isWhole = false
    }

    var location: String? { url }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(StreamFailure) -> Int {
        if let count, offset >= count { return 0 }
        if !isWhole, offset < pieceOffset || offset - pieceOffset >= Int64(piece.readableBytes) {
            let answer = try opener.fetch(url, from: offset)
            // Beyond the end (RFC 9110, 15.5.17).
            guard answer.status.code != 416 else { return 0 }
            guard answer.status.code == 206, let body = answer.body else {
                throw .failed("the server answered \(answer.status.code)")
            }
            _ = try HTTPMediaOpener.size(in: answer.headers, ofPartAt: offset)
            (piece, pieceOffset) = (body, offset)
        }
        let start = Int(offset - pieceOffset)
        let length = min(buffer.count, piece.readableBytes - start)
        guard length > 0 else { return 0 }
        piece.withUnsafeReadableBytes { bytes in
            buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[start..<start + length]))
        }
        return length
    }
}
