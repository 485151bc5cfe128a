import CongestionControl
import FlightRecording
import MediaCore
import Testing

@testable import FlightFiles

@Suite("Names of flight recordings")
struct FlightFileNameTests {
    private func name(room: String = "demo", participant: String = "Ada", wallClock: Int64 = 1_795_244_160_000)
        -> String
    {
        FlightFileName.make(
            for: FlightHeader(
                controller: "google",
                limits: RateLimits(minimum: .kilobits(100), start: .kilobits(300), maximum: .megabits(2)), start: .zero,
                wallClockMilliseconds: wallClock, room: room, participant: participant, participantID: "k3j4"))
    }

    @Test("a name says room, participant and start")
    func plain() {
        #expect(name() == "demo_Ada_20261121T065600Z_k3j4.flight")
    }

    @Test(
        "names from the network are harmless in a path",
        arguments: ["../../etc/passwd", "..", "", "a/b\0c", "-rf *", "Zoë\u{202E}", String(repeating: "x", count: 999)])
    func hostile(text: String) {
        for name in [name(room: text), name(participant: text)] {
            #expect(name.utf8.count <= 120)
            #expect(
                name.wholeMatch(of: /[A-Za-z0-9-]+_[A-Za-z0-9-]+_[0-9]{8}T[0-9]{6}Z_k3j4\.flight/) != nil, "\(name)")
        }
    }

    @Test("any time has a name", arguments: [Int64.min, -1, 0, .max])
    func times(wallClock: Int64) {
        #expect(name(wallClock: wallClock).hasSuffix("Z_k3j4.flight"))
    }
}
