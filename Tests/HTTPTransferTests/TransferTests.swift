import CLibCURL
import Foundation
import MediaCore
import Synchronization
import Testing

@testable import HTTPTransfer

@Suite("Transfers by libcurl")
struct TransferTests {
    private func read(_ lines: [(line: String, status: Int)]) -> (AnswerHead, [AnswerHead.Progress]) {
        var head = AnswerHead()
        let progress = lines.map { head.append(Array("\($0.line)\r\n".utf8), status: $0.status) }
        return (head, progress)
    }

    @Test("a head is that of the answer, without those before it, folded lines and trailers")
    func head() {
        let (head, progress) = read([
            ("HTTP/1.1 103 Early Hints", 103), ("A: early", 103), ("", 103), ("HTTP/1.1 200 OK", 200),
            ("B:  c:d ", 200),
            (" folded: e", 200), ("no field", 200), ("F:", 200), ("", 200), ("G: trailer", 200),
        ])
        #expect(head.fields == [.init(name: "B", value: "c:d"), .init(name: "F", value: "")])
        #expect(progress == [.more, .more, .more, .more, .more, .more, .more, .more, .complete, .more])
    }

    @Test("a head has a largest size, and trailers count")
    func longHead() {
        let line = "A: \(String(repeating: "b", count: AnswerHead.capacity / 2))"
        #expect(read([(line, 200), ("", 200), (line, 200)]).1 == [.more, .complete, .tooLong])
    }

    @Test("requests to one host and port share a lane, whatever else their URLs have")
    func lanes() {
        func lane(_ url: String, client: UInt64 = 1) -> TransferLane { TransferLane(client: client, url: url) }
        let one = lane("http://a:1/b")
        for url in ["http://a:1", "http://a:1?b", "http://a:1/c/d", "http://a:1#/e"] { #expect(lane(url) == one) }
        for url in ["http://a:2/b", "https://a:1/b", "http://b:1/b", ""] { #expect(lane(url) != one) }
        #expect(lane("http://a:1/b", client: 2) != one)
    }

    @Test("requests to a server beyond those that may be under way are refused, and no others")
    func capacity() throws {
        let multi = try #require(curl_multi_init())
        defer { curl_multi_cleanup(multi) }
        let inbox = TransferInbox(waking: multi)
        let failures = Mutex<[HTTPFailure]>([])
        func begin(_ url: String = "http://a/", client: UInt64 = 1) {
            inbox.begin(
                TransferPlan(
                    id: TransferInbox.makeID(), client: client, request: HTTPClient.Request(.get, url),
                    connectTime: .seconds(1), tls: HTTPClient.TLS(), deadline: .distantFuture,
                    receiver: .whole(.unneeded) { result in
                        if case .failure(let failure) = result { failures.withLock { $0.append(failure) } }
                    }))
        }
        for _ in 0...TransferInbox.capacity { begin() }
        #expect(failures.withLock { $0 } == [.tooManyRequests])
        begin(client: 2)
        begin("http://b/")
        inbox.requestEnded(in: TransferLane(client: 1, url: "http://a/"))
        begin()
        #expect(inbox.takeAll().orders.count == TransferInbox.capacity + 3)
        inbox.stop()
        begin()
        #expect(failures.withLock { $0 } == [.tooManyRequests, .clientClosed])
    }

    @Test(
        "the operator reads why a request was not answered",
        arguments: [
            (CURLE_OPERATION_TIMEDOUT, 0, "no answer in time"),
            (CURLE_COULDNT_CONNECT, ECONNREFUSED, "Connection refused"),
            (CURLE_GOT_NOTHING, ECONNREFUSED, "it closes the connection"),
            (CURLE_RECV_ERROR, ECONNRESET, "Connection reset by peer"),
            // The reason of another address, tried before.
            (CURLE_RECV_ERROR, ECONNREFUSED, "in libcurl's words"),
            (CURLE_COULDNT_RESOLVE_HOST, 0, "nothing is found at films.invalid"),
            (CURLE_FILESIZE_EXCEEDED, 0, "its answer is too long"),
            (CURLE_PEER_FAILED_VERIFICATION, 0, "in libcurl's words"),
        ])
    func words(result: CURLcode, code: Int32, words: String) {
        let failure = HTTPFailure(
            result, reason: "in libcurl's words", code: code, url: "http://films.invalid/a.mp4")
        #expect(failure?.description == words)
    }

    @Test("a result without a reason is told in general words")
    func noReason() {
        #expect(HTTPFailure(CURLE_SSL_CONNECT_ERROR, reason: "", code: 0, url: "")?.description == "SSL connect error")
        #expect(HTTPFailure(CURLE_OK, reason: "", code: 0, url: "") == nil)
    }
}
