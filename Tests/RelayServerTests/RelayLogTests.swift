import MediaCore
import RoomAPI
import SecureTransport
import Testing

@testable import Conference
@testable import RelayServer

@Suite("Lines of the log")
struct RelayLogTests {
    private func member(name: String, room: String = "demo") -> RelayNotice.Member {
        RelayNotice.Member(
            room: room, id: "4sfyq2kfmg8w", name: name, role: .sendAndReceive,
            address: TransportAddress(ipv4: 0xC000_0207, port: 1234))
    }

    @Test("A join and a leave name room, participant, name and reason")
    func joinAndLeave() {
        #expect(
            RelayLog.line(.joined(member(name: "Ada")))
                == #"joined: room "demo", participant 4sfyq2kfmg8w, name "Ada", sends and receives, from 192.0.2.7"#)
        #expect(
            RelayLog.line(.left(member(name: "Ada"), .idle, after: .milliseconds(35_400)))
                == #"left: room "demo", participant 4sfyq2kfmg8w, name "Ada", after 35 s: "#
                + "no authentic packet came for the idle timeout")
        for reason in LeaveReason.allCases {
            #expect(!RelayLog.line(.left(member(name: "Ada"), reason, after: .zero)).hasSuffix(": "))
        }
    }

    @Test("Failed packets are logged with their number and the last address")
    func failures() {
        let line = RelayLog.line(
            .authenticationFailed(packets: 214, last: TransportAddress(ipv4: 0xC000_0209, port: 40_112)))
        #expect(line.hasPrefix("214 packets failed authentication, the last from 192.0.2.9:40112: "))
    }

    @Test(
        "A name cannot break out of its quotation marks, begin a line or turn the text around it",
        arguments: [
            ("a\" left: room", #""a\" left: room""#), ("a\\", #""a\\""#), ("a\nb\r", #""a\u{a}b\u{d}""#),
            ("\u{1B}[2J", #""\u{1b}[2J""#), ("a\u{202E}b", #""a\u{202e}b""#), ("a\u{2028}b", #""a\u{2028}b""#),
            ("a\u{A0}b", #""a\u{a0}b""#), ("Zoë 漢字", #""Zoë 漢字""#),
        ])
    func escaping(name: String, quoted: String) {
        #expect(RelayLog.quoted(name) == quoted)
        #expect(RelayLog.line(.joined(member(name: name, room: name))).filter(\.isNewline).isEmpty)
    }

    @Test("A name that is too long is cut")
    func length() {
        let line = RelayLog.quoted(String(repeating: "e\u{301}", count: 10_000))
        #expect(line.unicodeScalars.count < 100)
        #expect(line.hasSuffix("…\""))
    }
}
