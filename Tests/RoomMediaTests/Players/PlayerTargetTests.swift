import Foundation
import HTTPTransfer
import LoopbackServer
import MediaFiles
import RoomAPI
import SecureTransport
import Synchronization
import Testing

@testable import RoomMedia

/// Films and streams as requests name them, and which of them may be played.
@Suite struct PlayerTargetTests {
    @Test(
        "URLs are shown without what may be a secret",
        arguments: [
            ("talks/monday.mp4", "talks/monday.mp4", "monday"),
            (
                "https://Films.Example.org/a/b.m3u8?token=secret#x", "https://films.example.org/\u{2026}",
                "films.example.org"
            ),
            ("http://films.example.org:8080/secret", "http://films.example.org:8080/\u{2026}", "films.example.org"),
            ("rtsp://ada:secret@[2001:db8::1]/secret", "rtsp://[2001:db8::1]/\u{2026}", "2001:db8::1"),
            ("rtmp://live.example.org/app/secret", "rtmp://live.example.org/\u{2026}", "live.example.org"),
            ("srt://live.example.org:9000?streamid=secret", "srt://live.example.org:9000", "live.example.org"),
        ])
    func shown(url: String, shown: String, name: String) throws {
        let target = try PlayerTarget(parsing: url)
        #expect(target.shown == shown && target.name == name)
    }

    @Test("a long host is a name only as far as names go")
    func longHost() throws {
        let host = String(repeating: "films.", count: 20) + "example.org"
        let target = try PlayerTarget(parsing: "https://\(host)/talk.mp4")
        #expect(target.address?.host == host)
        #expect(target.name == String(host.prefix(64)))
    }

    @Test("a file is named on its tile as people may name a player, whatever its name has in it")
    func fileNames() throws {
        #expect(try PlayerTarget(parsing: "a\u{202E}4pm\u{85}b.mp4").name == "a\u{FFFD}4pm\u{FFFD}b")
        let tall = "e" + String(repeating: "\u{301}", count: 100)
        #expect(try PlayerTarget(parsing: "\(tall).mp4").name.utf8.count == 63)
    }

    @Test(
        "what names nothing that could be played is refused",
        arguments: [
            "", "/etc/passwd", "../a.mp4", "a/../../b.mp4", ".hidden", "a//b", "a/.b", "a\u{0}b", "a\nb",
            "file:///etc/passwd",
            "concat://a|b", "data://x", "http://", "http://ada:x@host/", "http://ho st/", "http://host/ a",
            "http://host\\@b/",
            "rtsp://a b/", "rtsp://ada@host/", "rtmp://host", "srt://host", "udp://host:5", "http://host:0/",
            "http://host:99999/", String(repeating: "a", count: 1001),
        ])
    func refused(url: String) {
        #expect(throws: ServerAddress.ParseError.self) { try PlayerTarget(parsing: url) }
    }

    @Test("a server or a playlist may lead to a signed URL that is longer than those of requests")
    func signed() {
        let opener = HTTPMediaOpener(rules: nil)
        func answer(bytes: Int) -> StreamFailure? {
            do throws(StreamFailure) {
                _ = try opener.open("https://films.example.org/a?" + String(repeating: "s", count: bytes))
                return nil
            } catch {
                return error
            }
        }
        #expect(answer(bytes: 4000) == .failed("the host is not permitted"))
        #expect(answer(bytes: 9000) == .failed("it leads to something that is not read by HTTP"))
    }

    @Test("a web server that is not there is told apart from one without the film")
    func away() {
        #expect(HTTPMediaOpener.failure(.notConnected(code: ECONNREFUSED)) == .refused)
        #expect(HTTPMediaOpener.failure(.connectionLost(code: ECONNRESET)) == .connectionLost)
        #expect(HTTPMediaOpener.failure(.connectionClosed) == .connectionLost)
        #expect(HTTPMediaOpener.failure(.timedOut) == .timedOut)
    }

    @Test("a server that leads beyond all sizes is asked for a part that there can be")
    func farAway() throws {
        let asked = Mutex<String>("")
        let server = try LoopbackServer { connection in
            while let request = connection.readRequest() {
                asked.withLock { $0 = request.head }
                connection.answer(416)
            }
        }
        let opener = HTTPMediaOpener(rules: try HostRules(parsing: "127.0.0.0/8"))
        let url = "http://127.0.0.1:\(server.port)/film.mp4"
        #expect(try opener.fetch(url, from: .max - 1).status == 416)
        #expect(asked.withLock { $0.contains("range: bytes=\(Int64.max - 1)-\(Int64.max - 1)\r\n") })
    }

    @Test("a server that does not listen at an address is read at another, and there at once the next time")
    func otherAddress() throws {
        let server = try LoopbackServer { connection in
            while connection.readRequest() != nil { connection.answer(206) }
        }
        let opener = HTTPMediaOpener(rules: nil)
        let request = HTTPClient.Request(.get, "http://films.example.org:\(server.port)/film.mp4")
        let places = try ["127.0.0.2", "127.0.0.1"].map { try #require(TransportAddress(host: $0, port: 0)) }
        #expect(try opener.fetch(request, from: places).status == 206)
        #expect(opener.proven.withLock { $0 } == places[1])
        #expect(throws: StreamFailure.refused) { try opener.fetch(request, from: [places[0]]) }
    }

    @Test("a part of a film is taken only if it is the one that was asked for")
    func parts() throws {
        func size(_ range: String?, at offset: Int64) throws -> Int64? {
            let fields = range.map { [HTTPClient.Field(name: "Content-Range", value: $0)] } ?? []
            return try HTTPMediaOpener.size(in: HTTPClient.Head(status: 206, fields: fields), ofPartAt: offset)
        }
        #expect(try size("bytes 0-99/1000", at: 0) == 1000)
        #expect(try size("bytes 100-199/1000", at: 100) == 1000)
        #expect(try size("bytes 100-199/*", at: 100) == nil)
        #expect(try size("bytes=100-199/1000", at: 100) == 1000)
        #expect(try size(nil, at: 100) == nil)
        for range in ["bytes 0-99/1000", "bytes 101-199/1000", "bytes */1000", "bytes", "", "bytes -100/1000"] {
            #expect(throws: StreamFailure.self) { try size(range, at: 100) }
        }
    }

    /// A folder with a film inside, one outside, and links to both.
    private func withFolder(_ body: (PlayerRules) throws -> Void) throws {
        let root = FileManager.default.temporaryDirectory.appending(path: "confrelay-films-\(UUID().uuidString)")
        let films = root.appending(path: "films/talks")
        try FileManager.default.createDirectory(at: films, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: root) }
        try Data().write(to: films.appending(path: "a.mp4"))
        try Data().write(to: root.appending(path: "outside.mp4"))
        let manager = FileManager.default
        try manager.createSymbolicLink(
            at: films.appending(path: "out.mp4"), withDestinationURL: root.appending(path: "outside.mp4"))
        try manager.createSymbolicLink(
            at: films.appending(path: "in.mp4"), withDestinationURL: films.appending(path: "a.mp4"))
        try body(PlayerRules(folder: root.appending(path: "films").path))
    }

    @Test("files are opened in the folder alone, wherever links lead")
    func files() throws {
        try withFolder { rules in
            for path in ["talks/a.mp4", "talks/in.mp4"] {
                let source = try rules.source(of: .file(path), turn: 0)
                #expect(source.url.hasSuffix("films/talks/a.mp4") && source.protocols == "file")
            }
            func reason(_ path: String) -> PlayerStatus.Reason? {
                do throws(PlayerFailure) {
                    _ = try rules.source(of: .file(path), turn: 0)
                    return nil
                } catch {
                    return error.reason
                }
            }
            #expect(reason("talks/out.mp4") == .notPermitted)
            #expect(reason("talks") == .notFound)
            #expect(reason("talks/none.mp4") == .notFound)
        }
    }

    @Test(
        "hosts are permitted by name or by address, and files with a folder",
        arguments: [
            ("*.example.org", "http://films.example.org/a", true),
            ("*.example.org", "rtsp://films.example.org/a", true),
            ("*.example.org", "http://other.example.net/a", false), ("*.example.org", "http://127.0.0.1/a", false),
            ("*.example.org", "rtmp://localhost/a/b", false), ("*.example.org", "srt://10.1.2.3:9000", false),
            ("10.0.0.0/8", "srt://10.1.2.3:9000", true), ("10.0.0.0/8", "rtsp://10.1.2.3/a", true),
            ("*", "a.mp4", false),
        ])
    func rules(hosts: String, url: String, isPermitted: Bool) throws {
        let rules = PlayerRules(hosts: try HostRules(parsing: hosts))
        #expect((rules.refusal(of: try PlayerTarget(parsing: url)) == nil) == isPermitted)
    }

    @Test("a list of everything names no host, to which an RTSP server might lead")
    func everything() throws {
        let rules = PlayerRules(hosts: try HostRules(parsing: "*"))
        #expect(rules.refusal(of: try PlayerTarget(parsing: "http://films.example.org/a")) == nil)
        #expect(rules.refusal(of: try PlayerTarget(parsing: "rtsp://films.example.org/a")) != nil)
    }

    @Test("an address that is not permitted is not connected to")
    func addresses() throws {
        let rules = PlayerRules(hosts: try HostRules(parsing: "*,192.0.2.0/24"))
        func place(_ host: String) throws(PlayerFailure) -> String {
            guard let target = try? PlayerTarget(parsing: "http://\(host)/"), let address = target.address else {
                return ""
            }
            return try rules.places(of: address).first?.host ?? ""
        }
        #expect(try place("192.0.2.7") == "192.0.2.7")
        let refused = #expect(throws: PlayerFailure.self) { try place("127.0.0.1") }
        #expect(refused?.reason == .notPermitted)
    }
}
