import MediaCore
import Testing

@testable import SDP
@testable import SecureTransport

@Suite struct SessionDescriptionTests {
    private func parse(_ text: String) throws(SDPError) -> SessionDescription {
        try SessionDescription(parsing: text)
    }

    private func refusal(_ text: String) -> SDPError? {
        do {
            _ = try parse(text)
            return nil
        } catch { return error }
    }

    @Test("every part of a description is read")
    func parts() throws {
        let text = """
            v=0
            o=jdoe 3724394400 3724394405 IN IP4 198.51.100.1
            s=Call to John Smith
            i=SDP Offer #1
            u=http://www.jdoe.example.com/home.html
            e=Jane Doe <jane@jdoe.example.com>
            p=+1 617 555-6011
            c=IN IP4 198.51.100.1
            b=AS:128
            t=2873397496 2873404696
            t=1 2
            r=7d 1h 0 25h
            a=tool:x:y
            a=recvonly
            m=audio 49170/2 RTP/AVP 0 8
            m=video 51372 RTP/SAVP 99
            i=a title
            c=IN IP6 2001:db8::2
            b=TIAS:100000
            a=rtpmap:99 h263-1998/90000
            """
        let description = try parse(text)
        #expect(description.origin.username == "jdoe")
        #expect(description.origin.sessionVersion == "3724394405")
        #expect(description.name == "Call to John Smith")
        #expect(description.connection?.transportAddress(port: 1) == TransportAddress(ipv4: 0xC633_6401, port: 1))
        #expect(description.bandwidths == [BandwidthLimit(type: "AS", value: 128)])
        #expect(description.attributes == [SDPAttribute("tool", "x:y"), SDPAttribute("recvonly")])
        #expect(description.attributes.map(\.line) == [13, 14])
        #expect(description.timing == "2873397496 2873404696")
        #expect(description.media.map(\.kind) == [.audio, .video])
        #expect(description.media.map(\.port) == [49170, 51372])
        #expect(description.media.map(\.line) == [15, 16])
        #expect(description.media[0].formats == ["0", "8"])
        #expect(description.media[0].transport == .rtp(keying: .none, feedback: false))
        #expect(description.media[1].connection == ConnectionAddress(addressType: "IP6", host: "2001:db8::2"))
        #expect(description.media[1].bandwidths.maximumBitRate?.bitsPerSecond == 100_000)
        #expect(description.direction(of: description.media[0]) == .receiveOnly)
    }

    @Test("CRLF and LF give the same, with or without an end of the last line", arguments: Offers.all)
    func lineEnds(offer: Offers.Sample) throws {
        let lines = try parse(offer.text).encode().split(whereSeparator: \.isNewline)
        let expected = try parse(lines.joined(separator: "\r\n") + "\r\n")
        #expect(try parse(lines.joined(separator: "\n")) == expected)
        #expect(try parse(lines.joined(separator: "\n") + "\n\n\r\n") == expected)
    }

    @Test("an encoded description is parsed to the same, unknown attributes included", arguments: Offers.all)
    func roundTrip(offer: Offers.Sample) throws {
        let description = try parse(offer.text)
        let encoded = description.encode()
        #expect(try parse(encoded) == description)
        #expect(encoded.hasSuffix("\r\n"))
        for attribute in description.attributes + description.media.flatMap(\.attributes) {
            #expect(encoded.contains("\(attribute)\r\n"))
        }
    }

    @Test(
        "a malformed line is named with its number",
        arguments: [
            ("", 1), ("v=1\n", 1), ("o=- 1 1 IN IP4 1.2.3.4\n", 1), ("v=0\ns=-\n", 2),
            ("v=0\no=- 1 1 IN IP4\n", 2), ("v=0\no=- 1 1 IN IP5 1.2.3.4\n", 2),
            ("v=0\no=- 1 1 IN IP4 1.2.3.4\nt=0 0\n", 3), ("v=0\no=- 1 1 IN IP4 1.2.3.4\n", 3),
        ])
    func malformedHead(text: String, line: Int) {
        #expect(refusal(text)?.line == line)
    }

    @Test(
        "a malformed line after the head is named with its number and its reason",
        arguments: [
            ("x=1", "unknown type"), ("nonsense", "lower-case letter"), ("A=b", "lower-case letter"),
            ("a", "lower-case letter"), ("v=0", "second"), ("s=-", "second"), ("c=IN IP4 1.2.3.4", "already"),
            ("b=AS", "b=<type>"), ("b=AS:x", "not a number"),
            ("b=AS:99999999999999999999", "not a number"), ("m=audio", "m=<media>"), ("m=audio x RTP/SAVP 0", "port"),
            ("m=audio 70000 RTP/SAVP 0", "port"), ("m=audio +1 RTP/SAVP 0", "port"),
            ("m=audio 1 RTP/SAVP", "m=<media>"),
            ("a=b\u{0}c", "NUL"), ("a=b\rc", "CR"), ("a=" + String(repeating: "x", count: 9000), "longer"),
        ])
    func malformedLine(line: String, reason: String) throws {
        let text = (Offers.session + [line, "a=tail"]).joined(separator: "\r\n") + "\r\n"
        let error = try #require(refusal(text))
        #expect(error.line == 6)
        #expect(error.description.contains(reason), "\(error)")
        #expect(error.description.utf8.count < 200)
    }

    @Test("an empty line is an error but at the end")
    func emptyLine() {
        let text = Offers.session.joined(separator: "\n") + "\n\na=x\n"
        #expect(refusal(text) == .malformed(line: 6, reason: "the line is empty"))
    }

    @Test("media needs a connection line of its own or of the session, unless its port is 0")
    func connection() throws {
        let head = "v=0\no=- 1 1 IN IP4 1.2.3.4\ns=-\nt=0 0\n"
        #expect(refusal(head + "m=audio 1 RTP/SAVP 0\n")?.line == 5)
        #expect(try parse(head + "m=audio 1 RTP/SAVP 0\nc=IN IP4 host.example\n").media.count == 1)
        #expect(try parse(head + "m=audio 0 RTP/SAVP 0\n").media.count == 1)
        #expect(refusal(head + "c=IN IP4\n")?.line == 5)
        #expect(refusal(head + "c=IN IP4 /127\n")?.line == 5)
        #expect(try parse(head + "c=IN IP4 233.252.0.1/127\n").connection?.host == "233.252.0.1")
    }

    @Test("size, lines, media and formats are bounded")
    func bounds() throws {
        let head = Offers.session.joined(separator: "\n") + "\n"
        let line = "a=" + String(repeating: "x", count: 97) + "\n"
        let large = head + String(repeating: line, count: 656)
        #expect(refusal(large) == .tooLarge(byteCount: large.utf8.count))
        #expect(refusal(large)?.line == nil)
        #expect(try parse(head + String(repeating: line, count: 500)).attributes.count == 500)
        #expect(refusal(head + String(repeating: "a=x\n", count: 4092))?.line == 2049)
        #expect(try parse(head + String(repeating: "a=x\n", count: 512)).attributes.count == 512)
        #expect(refusal(head + String(repeating: "m=audio 1 RTP/SAVP 0\n", count: 33))?.line == 38)
        #expect(try parse(head + String(repeating: "m=audio 1 RTP/SAVP 0\n", count: 32)).media.count == 32)
        #expect(refusal(head + "m=audio 1 RTP/SAVP" + String(repeating: " 0", count: 129))?.line == 6)
    }

    @Test("text outside ASCII is kept")
    func unicode() throws {
        let text = "v=0\no=- 1 1 IN IP4 1.2.3.4\ns=Besprechung für 日本 🎥\nt=0 0\na=note:é\u{301}\n"
        let description = try parse(text)
        #expect(description.name == "Besprechung für 日本 🎥")
        #expect(try parse(description.encode()) == description)
    }
}
