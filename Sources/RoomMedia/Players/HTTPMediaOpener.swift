import Foundation
import HTTPTransfer
import MediaCore
import MediaFiles
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
    /// For all addresses of a server together.
    private static let patience = Duration.seconds(15)

    private let rules: HostRules?
    private let client = HTTPClient(connectingWithin: .seconds(5))
    /// The address that has answered last: the next piece need not wait for one that does not.
    let proven = Mutex<TransportAddress?>(nil)

    init(rules: HostRules?) {
        self.rules = rules
    }

    func open(_ url: String) throws(StreamFailure) -> any MediaBytes {
        var url = url
        for _ in 0...Self.mostRedirections {
            let answer = try fetch(url, from: 0)
            switch answer.status {
            case 300..<400:
                guard let location = answer.head.values(of: "location").first, let base = URL(string: url),
                    let next = URL(string: location, relativeTo: base)
                else { throw .failed("the server sends the relay on, but not where to") }
                url = next.absoluteString
            case 200: return HTTPMediaBytes(url: url, opener: self, whole: answer.body)
            case 206:
                let size = try Self.size(in: answer.head, ofPartAt: 0)
                return HTTPMediaBytes(url: url, opener: self, first: answer.body, size: size)
            default: throw .failed("the server answered \(answer.status)")
            }
        }
        throw .failed("the server sends the relay on and on")
    }

    /// The size of a file in `bytes 0-99/1000` (RFC 9110, 14.4); nil if the server does not tell.
    ///
    /// - Throws: A failure if the server has answered with another part than the one at `offset`: a film that is put
    ///   together of such parts is damaged.
    static func size(in head: HTTPClient.Head, ofPartAt offset: Int64) throws(StreamFailure) -> Int64? {
        guard let range = head.values(of: "content-range").first else { return nil }
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
    func fetch(_ url: String, from offset: Int64) throws(StreamFailure) -> HTTPClient.Answer {
        guard case .http(let server, let url)? = try? PlayerTarget(parsing: url, longest: PlayerTarget.longestFound)
        else {
            throw .failed("it leads to something that is not read by HTTP")
        }
        let places: [TransportAddress]
        do throws(PlayerFailure) {
            guard rules?.mayPermit(host: server.host) ?? false else { throw PlayerFailure(reason: .notPermitted) }
            places = try PlayerRules(hosts: rules).places(of: server)
        } catch {
            throw .failed(
                error.reason == .nameNotFound ? "the host's name has no address" : "the host is not permitted")
        }
        var request = HTTPClient.Request(.get, url)
        request.add("user-agent", "confrelay")
        let (end, isBeyond) = offset.addingReportingOverflow(Self.pieceSize)
        request.add("range", "bytes=\(offset)-\((isBeyond ? Int64.max : end) - 1)")
        return try fetch(request, from: places)
    }

    /// The answer of the first of a server's addresses that has one.
    func fetch(
        _ request: HTTPClient.Request, from places: [TransportAddress]
    ) throws(StreamFailure) -> HTTPClient.Answer {
        let end = MonotonicInstant.now() + Self.patience
        let proven = proven.withLock { $0 }
        var failure = HTTPFailure.timedOut
        for place in places.filter({ $0 == proven }) + places.filter({ $0 != proven }) {
            let timeLeft = end - .now()
            guard timeLeft > .zero else { break }
            var request = request
            // One of those that were checked.
            request.address = place.host
            do throws(HTTPFailure) {
                let answer = try client.performAndWait(request, within: timeLeft, upTo: Self.mostWithoutRanges)
                self.proven.withLock { $0 = place }
                return answer
            } catch {
                failure = error
                switch error {
                case .timedOut, .notConnected: continue
                default: throw Self.failure(error)
                }
            }
        }
        throw Self.failure(failure)
    }

    static func failure(_ failure: HTTPFailure) -> StreamFailure {
        switch failure {
        case .timedOut: .timedOut
        case .notConnected: .refused
        case .connectionLost, .connectionClosed: .connectionLost
        case .answerTooLong:
            .failed(
                "the server hands out no parts of files, and this one is larger than \(mostWithoutRanges >> 20) MiB")
        default: .failed("\(failure)")
        }
    }
}

/// A file of an HTTP server, of which one piece is held.
private final class HTTPMediaBytes: MediaBytes {
    /// Where redirections have led.
    private let url: String
    private let opener: HTTPMediaOpener
    private(set) var count: Int64?
    private var piece: [UInt8]
    private var pieceOffset: Int64 = 0
    private let isWhole: Bool

    init(url: String, opener: HTTPMediaOpener, whole: [UInt8]) {
        self.url = url
        self.opener = opener
        count = Int64(whole.count)
        piece = whole
        isWhole = true
    }

    init(url: String, opener: HTTPMediaOpener, first: [UInt8], size: Int64?) {
        self.url = url
        self.opener = opener
        count = size
        piece = first
        isWhole = false
    }

    var location: String? { url }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(StreamFailure) -> Int {
        if let count, offset >= count { return 0 }
        if !isWhole, offset < pieceOffset || offset - pieceOffset >= Int64(piece.count) {
            let answer = try opener.fetch(url, from: offset)
            // Beyond the end (RFC 9110, 15.5.17).
            guard answer.status != 416 else { return 0 }
            guard answer.status == 206 else {
                throw .failed("the server answered \(answer.status)")
            }
            _ = try HTTPMediaOpener.size(in: answer.head, ofPartAt: offset)
            (piece, pieceOffset) = (answer.body, offset)
        }
        let start = Int(offset - pieceOffset)
        let length = min(buffer.count, piece.count - start)
        guard length > 0 else { return 0 }
        piece.withUnsafeBytes { bytes in
            buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[start..<start + length]))
        }
        return length
    }
}
