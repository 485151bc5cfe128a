import MediaFiles
import SecureTransport
import Testing

@testable import RoomMedia

/// The URLs that an output takes, and what it tells of them.
@Suite struct StreamServerTests {
    private static let address = TransportAddress(ipv4: 0xC000_0207, port: 0)

    @Test("an RTMP server is connected to at the address that was checked, and is told the name")
    func rtmp() throws {
        let target = try StreamServer(parsing: "RTMP://Live.Example.org/app/instance/se-cret?token=x")
        #expect(target.address.host == "live.example.org" && target.address.port == 1935)
        let destination = target.destination(at: Self.address)
        #expect(destination.url == "rtmp://192.0.2.7:1935/app/instance/se-cret?token=x")
        #expect(destination.container == .flv)
        #expect(destination.options["rtmp_tcurl"] == "rtmp://live.example.org/app/instance")
        #expect(destination.options["rtmp_app"] == "app/instance")
        #expect(destination.options["rtmp_playpath"] == "se-cret?token=x")
        #expect(destination.options["protocol_whitelist"] == "rtmp,tcp")
    }

    @Test("an RTMPS server is connected to by the name that its certificate must have")
    func rtmps() throws {
        let target = try StreamServer(parsing: "rtmps://ada:pass@live.example.org/app/key")
        #expect(target.address.port == 443 && target.isConnectedByName)
        let destination = target.destination(at: Self.address)
        #expect(destination.url == "rtmps://ada:pass@live.example.org:443/app/key")
        #expect(destination.options["tls_verify"] == "1")
        #expect(try !StreamServer(parsing: "rtmps://192.0.2.7/app/key").isConnectedByName)
    }

    @Test("an SRT server gets its stream and passphrase as options, and the latency in microseconds")
    func srt() throws {
        let target = try StreamServer(
            parsing: "srt://[2001:db8::1]:9000?streamid=%23!::r=live&passphrase=0123456789&latency=200&mode=caller")
        let destination = target.destination(at: TransportAddress(ipv6: (0x2001_0DB8 << 32, 1), port: 9000))
        #expect(destination.url == "srt://[2001:db8::1]:9000")
        #expect(destination.container == .mpegTS)
        #expect(
            destination.options == [
                "streamid": "#!::r=live", "passphrase": "0123456789", "latency": "200000", "protocol_whitelist": "srt",
            ])
    }

    @Test(
        "nothing that may be secret is shown",
        arguments: [
            ("rtmp://live.example.org/app/secret", "rtmp://live.example.org/…"),
            ("rtmp://name:secret@live.example.org:1936/secret/key?secret", "rtmp://live.example.org:1936/…"),
            ("rtmps://[2001:db8::1]/secret/secret", "rtmps://[2001:db8::1]/…"),
            ("srt://192.0.2.7:9000?streamid=secret&passphrase=secretsecret", "srt://192.0.2.7:9000"),
        ])
    func shown(url: String, shown: String) throws {
        let target = try StreamServer(parsing: url)
        #expect(target.shown == shown)
        #expect(target.destination(at: Self.address).name == shown)
    }

    @Test(
        "a mistake is named, without the stream's key",
        arguments: [
            ("http://example.org/secret", "rtmp://, rtmps://, srt://"), ("file:///secret", "rtmp://"),
            ("rtmp:secret", "rtmp://"), ("", "rtmp://"), ("rtmpt://example.org/app/secret", "rtmp://"),
            ("rtmp://example.org", "application"), ("rtmp://example.org/secret", "application"),
            ("rtmp://example.org//secret", "application"), ("rtmp://example.org/app/", "stream key"),
            ("rtmp://example.org/app/?secret", "stream key"), ("rtmp:///app/secret", "host"),
            ("rtmp://exa mple.org/app/secret", "spaces"), ("rtmp://example.org/app/sec\u{7}ret", "ASCII"),
            ("rtmp://exämple.org/app/secret", "ASCII"), ("rtmp://example.org:0/app/secret", "port"),
            ("rtmp://example.org:99999/app/secret", "port"), ("rtmp://[::1/app/secret", "bracket"),
            ("rtmp://[127.0.0.1]/app/secret", "host"), ("rtmp://a:b:c/app/secret", "port"),
            ("rtmp://secret@example.org/app/key", "name:password@"),
            ("rtmp://127.0.0.1:1935#a:b@example.org/app/key", "name:password@"),
            ("rtmp://a@127.0.0.1:b@example.org/app/key", "name:password@"), ("rtmp://exa%6dple.org/app/secret", "host"),
            ("srt://example.org?streamid=secret", "port"), ("srt://example.org:9000/secret", "path"),
            ("srt://example.org:9000?mode=listener", "caller"), ("srt://example.org:9000?secret=1", "no option"),
            ("srt://example.org:9000?latency=120000", "milliseconds"),
            ("srt://example.org:9000?latency=-1", "20 to 8000"),
            ("srt://example.org:9000?passphrase=secret", "10 to 79"), ("srt://example.org:9000?streamid", "no value"),
            ("srt://example.org:9000?pbkeylen=17", "16, 24 or 32"), ("srt://a@example.org:9000", "passphrase"),
            ("rtmp://example.org/app/" + String(repeating: "k", count: 501), "500"),
            ("rtmp://example.org/" + String(repeating: "a", count: 128) + "/secret", "127"),
            ("rtmp://example.org/app/" + String(repeating: "k", count: 1000), "1000"),
        ])
    func mistakes(url: String, words: String) {
        let error = #expect(throws: StreamServer.ParseError.self) { try StreamServer(parsing: url) }
        #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
        #expect(error?.description.contains("secret") != true || url.contains("secret=1"))
    }
}
