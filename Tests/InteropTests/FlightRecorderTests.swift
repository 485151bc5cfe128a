import CongestionControl
import FlightRecording
import Foundation
import Glibc
import MediaCore
import ResearchControllers
import Testing

/// The recordings that our programs make of real calls, and the output of `confsim` for them.
@Suite("Flight recordings of calls", .serialized)
struct FlightRecorderTests {
    private func client(_ arguments: [String], in folder: TemporaryFolder) throws -> ChildProcess {
        try ChildProcess(Programs.product("confclient"), arguments, in: folder)
    }

    private func confsim(
        _ arguments: [String], in folder: TemporaryFolder
    ) async throws -> (code: Int32, output: String, errors: String) {
        let child = try ChildProcess(Programs.product("confsim"), arguments, in: folder)
        let code = try await child.end(within: .seconds(60))
        return (code, child.output, child.errors)
    }

    private func bytes(_ name: String, in folder: TemporaryFolder) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: folder.file(name)))
    }

    /// Runs the controller of a recording again: how many decisions it made, how many differ, and how it ends.
    private func replay(
        _ bytes: [UInt8]
    ) throws -> (header: FlightHeader, decisions: Int, differences: Int, ending: FlightEnding?) {
        var decoder = try FlightDecoder(bytes)
        let header = decoder.header
        let kind = try #require(CongestionControllerKind(rawValue: header.controller))
        var replay = FlightReplay(controller: kind.makeController(limits: header.limits, now: header.start))
        while let record = try decoder.next() { _ = replay.apply(record) }
        return (header, replay.decisionCount, replay.differenceCount, decoder.ending)
    }

    private func recordings(in folder: TemporaryFolder) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.file("flights").path).sorted()
            .map { "flights/" + $0 }
    }

    @Test(
        "the recordings of both ends of a call are reproduced to the bit",
        arguments: [CongestionControllerKind.google, .confrelay])
    func call(kind: CongestionControllerKind) async throws {
        let folder = try TemporaryFolder()
        let relay = try await RelayProgram(
            ["--canvas", "320x180", "--frame-rate", "15", "--controller", kind.rawValue]
                + ["--flight-recorder", "flights"], in: folder)
        let client = try client(
            ["join", relay.url("/rooms/demo"), "--name", "../Zoë 1", "--size", "320x180", "--frame-rate", "15"]
                + ["--duration", "5", "--quiet", "--controller", kind.rawValue, "--flight-recorder", "up.flight"]
                + ["--downlink", "rate=400k,delay=20ms"], in: folder)
        #expect(try await client.end(within: .seconds(60)) == 0, "\(client.errors)")
        relay.child.signal(SIGTERM)
        #expect(try await relay.child.end(within: .seconds(5)) == 0, "\(relay.child.errors)")

        let names = try recordings(in: folder)
        #expect(names.count == 1)
        let name = try #require(names.first)
        #expect(name.contains(/^flights\/demo_---Zo--1_[0-9]{8}T[0-9]{6}Z_[a-z0-9]{12}\.flight$/), "\(name)")
        for file in [name, "up.flight"] {
            let flight = try replay(bytes(file, in: folder))
            #expect(flight.header.controller == kind.rawValue)
            #expect(flight.header.room == "demo" && flight.header.participant == "../Zoë 1")
            #expect(flight.ending == .closed, "\(file)")
            #expect(flight.decisions > 40 && flight.differences == 0, "\(file)")
            let (code, output, errors) = try await confsim(["record-replay", file], in: folder)
            #expect(code == 0 && output.contains("identical: all \(flight.decisions) decisions"), "\(output)\(errors)")
        }
        let estimate = try await confsim(["traces", "from-flight", name, "-o", "link.down"], in: folder)
        #expect(estimate.code == 0, "\(estimate.errors)")
        #expect(try await confsim(["traces", "describe", "link.down"], in: folder).code == 0)
    }

    @Test("a relay that is killed leaves recordings that can be used")
    func killed() async throws {
        let folder = try TemporaryFolder()
        let relay = try await RelayProgram(
            ["--canvas", "320x180", "--frame-rate", "15", "--flight-recorder", "flights"], in: folder)
        let client = try client(
            ["join", relay.url("/rooms/demo"), "--size", "320x180", "--frame-rate", "15", "--quiet"], in: folder)
        try await relay.participant("Guest", in: "demo") { $0.downlink.framesEncoded > 20 }
        try await eventually("something is recorded", within: .seconds(10)) {
            try recordings(in: folder).first.flatMap { folder.size(of: $0) > 2000 ? true : nil }
        }
        relay.child.signal(SIGKILL)
        _ = try await relay.child.end(within: .seconds(5))
        client.signal(SIGTERM)
        _ = try await client.end(within: .seconds(20))
        let flight = try replay(bytes(#require(recordings(in: folder).first), in: folder))
        guard case .truncated = flight.ending else {
            Issue.record("it ends with \(String(describing: flight.ending))")
            return
        }
        #expect(flight.decisions > 10 && flight.differences == 0)
    }

    @Test("a simulated flow can be recorded, replayed, and run with another controller on its inputs")
    func simulated() async throws {
        let folder = try TemporaryFolder()
        for controller in ["google", "fixed", "confrelay"] {
            let (code, _, errors) = try await confsim(
                ["replay", "--link", "rate=1M,delay=30ms", "--duration", "5s", "--controller", controller]
                    + ["--flight-recorder", "\(controller).flight"]
                    + (controller == "confrelay" ? ["--scale", "caution=1.5"] : []), in: folder)
            #expect(code == 0, "\(errors)")
            let recording = try FlightDecoder(bytes("\(controller).flight", in: folder))
            #expect(recording.header.packetOverhead == DataSize(bytes: 28), "IP and UDP headers count on the link")
            let replayed = try await confsim(["record-replay", "\(controller).flight"], in: folder)
            #expect(replayed.code == 0 && replayed.output.contains("identical: all"), "\(replayed)")
        }
        let other = try await confsim(
            ["record-replay", "google.flight", "--controller", "confrelay", "--csv", "course.csv"], in: folder)
        #expect(other.code == 0 && other.output.contains("open loop"), "\(other)")
        let lines = try String(contentsOf: folder.file("course.csv"), encoding: .utf8).split(separator: "\n")
        #expect(lines.first?.hasSuffix(",other_target_bps") == true)
        #expect((24...27).contains(lines.count), "a row each 200 ms for 5 s")
    }

    @Test("recordings that cannot be replayed have their own exit codes")
    func exitCodes() async throws {
        let folder = try TemporaryFolder()
        let limits = RateLimits(minimum: .kilobits(100), start: .kilobits(300), maximum: .megabits(2))
        let memory = FlightMemory()
        let recorder = FlightRecorder(
            header: FlightHeader(controller: "google", limits: limits, start: .zero), sink: memory)
        var controller = RecordingController(FixedRateController(rate: .megabits(1)), recorder: recorder)
        _ = controller.advance(now: .zero + .milliseconds(1500))
        recorder.finish()
        func write(_ bytes: [UInt8], _ name: String) throws { try Data(bytes).write(to: folder.file(name)) }
        try write(memory.bytes, "other.flight")
        try write(Array(memory.bytes.dropLast(4)) + [1, 99, 0], "damaged.flight")
        try write(Array("no recording".utf8), "text.flight")
        let difference = try await confsim(["record-replay", "other.flight"], in: folder)
        #expect(difference.code == 1)
        #expect(
            difference.output.contains("different: decision 1 of 1, at 1.500000 s: target 1000000 became 300000"),
            "\(difference.output)")
        for (arguments, code) in [
            (["damaged.flight"], 66), (["text.flight"], 66), (["absent.flight"], 66), ([], 64),
            (["other.flight", "--controller", "oracle"], 64), (["other.flight", "--csv", "absent/x.csv"], 73),
        ] {
            let run = try await confsim(["record-replay"] + arguments, in: folder)
            #expect(run.code == Int32(code), "\(arguments): \(run)")
            #expect(!run.errors.isEmpty)
        }
        #expect(try await confsim(["traces", "from-flight", "other.flight"], in: folder).code == 66)
    }

    @Test("a folder or file that cannot be written to is reported before anything begins")
    func notWritable() async throws {
        let folder = try TemporaryFolder()
        try Data().write(to: folder.file("file"))
        let relay = try ChildProcess(
            Programs.product("confrelay"), ["--port", "0", "--flight-recorder", "file"], in: folder)
        #expect(try await relay.end(within: .seconds(10)) == 73)
        #expect(relay.errors.contains("flight recordings cannot be kept in file"), "\(relay.errors)")
        let running = try await RelayProgram(in: folder)
        let client = try client(
            ["join", running.url("/rooms/demo"), "--flight-recorder", "absent/x.flight"], in: folder)
        #expect(try await client.end(within: .seconds(10)) == 74, "\(client.errors)")
    }
}
