import Foundation
import LinkEmulation
import MediaCore
import MediaFiles
import NIOCore
import NIOPosix
import RTP
import SecureTransport
import Testing

@testable import ConferenceClient

@Suite("Recording of received media")
struct MovieRecorderTests {
    private static let began = MonotonicInstant.zero + .seconds(100)
    private static let clock = NTPTime(unixTime: .seconds(1_000_000))
    private static let silence = ByteBuffer(bytes: [0xF8, 0xFF, 0xFE])

    /// The file of a recording, for which `append` gets the recorder and as many encoded frames as `count` says.
    private func recording(
        of count: Int, _ append: (MovieRecorder, [SampleBuffer]) throws -> Void
    ) throws -> TemporaryFile {
        let source = TemporaryFile(".mp4")
        let samples = try VideoSourceTests.write(count, to: source.path)
        let file = TemporaryFile(".mp4")
        let recorder = try MovieRecorder(path: file.path)
        try append(recorder, samples)
        try recorder.finish()
        return file
    }

    @Test("a recording begins with the first keyframe, and audio keeps its distance to the pictures")
    func records() throws {
        let source = TemporaryFile(".mp4")
        let samples = try VideoSourceTests.write(12, to: source.path)
        let file = TemporaryFile(".mp4")
        let recorder = try MovieRecorder(path: file.path)
        var now = MonotonicInstant.zero + .seconds(100)
        for sample in samples.dropFirst() {
            recorder.append(sample, arrival: now)
            for half in 0..<2 {
                recorder.append(
                    opus: ByteBuffer(bytes: [0xF8, 0xFF, 0xFE]),
                    rtpTimestamp: UInt32.max &- 1000
                        &+ UInt32(truncatingIfNeeded: (now - MonotonicInstant.zero).nanoseconds / 20_833),
                    sequence: Int64((now - MonotonicInstant.zero).nanoseconds) + Int64(half), arrival: now)
            }
            now += .milliseconds(40)
        }
        try recorder.finish()
        let reader = try MovieReader(path: file.path)
        let first = try #require(try reader.nextSample())
        #expect(first.isSync)
        #expect(first.data == samples[5].data)
        #expect(first.presentationTime == .zero)
        let second = try #require(try reader.nextSample())
        #expect(second.presentationTime == MediaTime(value: 40, timescale: 1000))
    }

    @Test("audio goes to its pictures by the sender's clock, however late the first picture came")
    func lipSync() throws {
        let file = try recording(of: 50) { recorder, samples in
            for tick in 0..<120 {
                let now = Duration.milliseconds(20 * tick)
                // Sender reports come after a second.
                func senderTime(_ captured: Duration) -> NTPTime? { tick > 70 ? Self.clock + captured : nil }
                if tick >= 20, tick.isMultiple(of: 2) {
                    let captured = now - .milliseconds(400)
                    recorder.append(
                        samples[(tick - 20) / 2], arrival: Self.began + now, senderTime: senderTime(captured))
                }
                recorder.append(
                    opus: Self.silence, rtpTimestamp: UInt32(tick) * 960, sequence: Int64(tick),
                    arrival: Self.began + now, senderTime: senderTime(now))
            }
        }
        let reader = try OpusReader(path: file.path)
        var times: [Double] = []
        while let packet = try reader.nextPacket() { times.append(try #require(packet.presentationTime).seconds) }
        // The movie begins with the picture that was captured at zero.
        #expect(abs(try #require(times.last) - 119 * 0.02) < 0.001)
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 > 0.0199 })
    }

    @Test("audio that was captured before the first picture is left out, and the pictures keep their times")
    func audioBeforePictures() throws {
        let file = try recording(of: 20) { recorder, samples in
            for tick in 0..<40 {
                let now = Duration.milliseconds(20 * tick)
                if tick.isMultiple(of: 2) {
                    recorder.append(samples[tick / 2], arrival: Self.began + now, senderTime: Self.clock + now)
                }
                recorder.append(
                    opus: Self.silence, rtpTimestamp: UInt32(tick) * 960, sequence: Int64(tick),
                    arrival: Self.began + now, senderTime: Self.clock + (now - .milliseconds(200)))
            }
        }
        let (pictures, audio) = (try MovieReader(path: file.path), try OpusReader(path: file.path))
        var (times, audioTimes): ([Double], [Double]) = ([], [])
        while let picture = try pictures.nextSample() { times.append(picture.presentationTime.seconds) }
        while let packet = try audio.nextPacket() { audioTimes.append(try #require(packet.presentationTime).seconds) }
        #expect(times.count == 20 && zip(times, 0...).allSatisfy { abs($0 - Double($1) * 0.04) < 0.001 })
        // The last packet arrived after 780 ms.
        let last = try #require(audioTimes.last)
        #expect(audioTimes.count == 30 && abs(last - 0.58) < 0.001)
    }

    @Test("an empty recording is refused")
    func empty() throws {
        let file = TemporaryFile(".mp4")
        let recorder = try MovieRecorder(path: file.path)
        #expect(throws: ClientError.noMedia(reason: "no keyframe arrived, so that \(file.path) is empty")) {
            try recorder.finish()
        }
    }

    @Test("a path that cannot be written is noticed at the start")
    func unwritable() {
        #expect(throws: ClientError.outputNotWritable(path: "/nonexistent/a.mp4", reason: "its folder does not exist"))
        {
            try MovieRecorder(path: "/nonexistent/a.mp4")
        }
    }

    @Test("what cannot be written is told in the system's words where Foundation has none")
    func systemWords() {
        let isFolder = ClientError.outputNotWritable(path: "/", reason: "Is a directory")
        #expect(throws: isFolder) { try JSONFile.check("/") }
        let brokenPipe = NSError(domain: NSPOSIXErrorDomain, code: Int(EPIPE))
        let error = CocoaError(.fileWriteUnknown, userInfo: [NSUnderlyingErrorKey: brokenPipe])
        #expect(OutputFile.reason(error) == "Broken pipe")
    }

    @Test("a picture that a load run cannot write is noticed before its clients join")
    func unwritableSnapshot() async throws {
        // Nobody listens at this port.
        var client = JoinOptions(url: try RoomURL("http://127.0.0.1:9/rooms/demo"), name: "Load")
        client.video = VideoInput.none
        client.audio = AudioInput.none
        client.snapshotPath = "/nonexistent/last.png"
        let options = LoadOptions(client: client, count: 1, decodingCount: 1)
        let missing = ClientError.outputNotWritable(
            path: "/nonexistent/last.png", reason: "its folder does not exist")
        await #expect(throws: missing) {
            _ = try await LoadRun.start(options, on: MultiThreadedEventLoopGroup.singleton)
        }
    }
}

@Suite("Emulated access link")
struct EmulatedAccessLinkTests {
    @Test("datagrams come out at the link's rate, headers included, after its delay")
    func rate() throws {
        let profile = try LinkProfile(argument: "rate=800k,delay=40ms")
        var link = EmulatedAccessLink<TransportAddress>(profile: profile, isIPv6: false, seed: 1, start: .zero)
        let peer = try #require(TransportAddress(host: "127.0.0.1", port: 1))
        for _ in 0..<3 { link.send(ByteBuffer(repeating: 0, count: 972), peer: peer, now: .zero) }
        // 1000 bytes take 10 ms at 800 kbit/s.
        #expect(link.nextDelivery == MonotonicInstant.zero + .milliseconds(50))
        #expect(link.deliver(now: MonotonicInstant.zero + .milliseconds(49)) == nil)
        #expect(link.deliver(now: MonotonicInstant.zero + .milliseconds(60))?.peer == peer)
        #expect(link.deliver(now: MonotonicInstant.zero + .milliseconds(60)) != nil)
        #expect(link.deliver(now: MonotonicInstant.zero + .milliseconds(60)) == nil)
        #expect(link.statistics.deliveredPackets == 2)
    }

    @Test("a text that is no link is a usage error, and a missing trace an input error")
    func errors() {
        let usage = #expect(throws: ClientError.self) { try LinkProfile(argument: "rate=fast") }
        #expect(usage?.exitCode == 64)
        let input = #expect(throws: ClientError.self) { try LinkProfile(argument: "trace=/nonexistent") }
        #expect(input?.exitCode == 66)
    }

    @Test("a trace is read from its file")
    func trace() throws {
        let file = TemporaryFile(".trace")
        try Data("10\n20\n".utf8).write(to: URL(fileURLWithPath: file.path))
        let profile = try LinkProfile(argument: "trace=\(file.path)")
        #expect(profile.rate.rate(at: .zero) == .kilobits(1200))
    }
}

@Suite("Reports")
struct ReportTests {
    @Test(
        "a file whose name promises another format is refused with the one that is written",
        arguments: [
            ("seen.mkv", false), ("seen.jpg", false), ("seen.mp4", true), ("SEEN.MP4", true), ("/a.b/seen", true),
        ])
    func formats(path: String, isWritten: Bool) {
        guard !isWritten else {
            #expect(throws: Never.self) { try JoinOptions.check(path, of: "--record", isFor: "mp4") }
            return
        }
        let error = #expect(throws: ClientError.self) { try JoinOptions.check(path, of: "--record", isFor: "mp4") }
        #expect(error?.exitCode == 64 && error?.description.contains("MP4 only") == true)
    }

    @Test("a further session of a client has files of its own")
    func sessionFiles() {
        #expect(JoinOptions.path("call.json", ofSession: 1) == "call.json")
        #expect(JoinOptions.path("/calls/call.json", ofSession: 2) == "/calls/call-2.json")
        #expect(JoinOptions.path("/calls/call", ofSession: 3) == "/calls/call-3")
    }

    @Test("a session keeps the samples of its last day, however long it lasts")
    func samples() {
        var samples: [ClientReport.Sample] = []
        for second in 1...150_000 {
            samples.keep(
                .init(
                    seconds: Double(second), receivedFrames: 30, receivedVideoBitsPerSecond: 1,
                    receivedAudioBitsPerSecond: 1, freezeSeconds: 0, longestGapSeconds: 0.04, packetsLost: 0,
                    sentFrames: 30, sentVideoBitsPerSecond: 1, sentAudioBitsPerSecond: 1, videoTargetBitsPerSecond: 1))
        }
        #expect((86_400...100_000).contains(samples.count))
        #expect(samples.map(\.seconds) == (150_001 - samples.count...150_000).map(Double.init))
    }

    @Test("the report's JSON has the documented names")
    func names() throws {
        let report = ClientReport(
            name: "Ada", url: "http://127.0.0.1:7000/rooms/demo", participant: "/rooms/demo/participants/1",
            joinedAt: "2026-01-01T00:00:00Z", durationSeconds: 1, end: "duration",
            join: .init(transport: "dtls", secondsToAnswer: 0.01, secondsToConnect: 0.02, secondsToFirstPicture: 0.1),
            receivedVideo: .init(
                frames: 1, keyframes: 1, framesDecoded: 1, decodeErrors: 0, framesNotDecoded: 0, framesPerSecond: 30,
                width: 1280, height: 720, bytes: 1, bitsPerSecond: 1, secondsToFirstFrame: 0.1, freezeCount: 0,
                freezeSeconds: 0, longestGapSeconds: 0.04, packets: 1, packetsLost: 0, lossFraction: 0, nacksSent: 0,
                keyframeRequestsSent: 0),
            receivedAudio: .init(packets: 1, bytes: 1, bitsPerSecond: 1),
            sentVideo: .init(
                frames: 1, keyframes: 1, framesSkipped: 0, bytes: 1, bitsPerSecond: 1, targetBitsPerSecond: 1,
                lossFraction: 0, keyframeRequestsReceived: 0),
            sentAudio: .init(packets: 1, bytes: 1, bitsPerSecond: 1, lossFraction: 0),
            transport: .init(
                packetsSent: 1, packetsReceived: 1, retransmissionsSent: 0, nacksReceived: 0,
                packetsNotAuthenticated: 0, packetsReplayed: 0, packetsMalformed: 0, roundTripSeconds: 0.01,
                targetBitsPerSecond: 1),
            delay: .init(
                samples: 1, meanSeconds: 0.1, medianSeconds: 0.1, p95Seconds: 0.1, maximumSeconds: 0.1,
                participants: [.init(tag: 1, samples: 1, meanSeconds: 0.1)]),
            uplink: nil,
            downlink: .init(packetsSent: 1, packetsDelivered: 1, packetsLost: 0, packetsDropped: 0, bytesDelivered: 1),
            samples: [])
        let file = TemporaryFile(".json")
        try JSONFile.write(report, to: file.path)
        let data = try Data(contentsOf: URL(fileURLWithPath: file.path))
        let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(
            object.keys.sorted() == [
                "delay", "downlink", "durationSeconds", "end", "join", "joinedAt", "name", "participant",
                "receivedAudio",
                "receivedVideo", "samples", "sentAudio", "sentVideo", "transport", "url", "version",
            ])
        let video = try #require(object["receivedVideo"] as? [String: Any])
        #expect(
            video.keys.sorted() == [
                "bitsPerSecond", "bytes", "decodeErrors", "fecPackets", "frames", "framesDecoded", "framesNotDecoded",
                "framesPerSecond", "freezeCount", "freezeSeconds", "height", "keyframeRequestsSent", "keyframes",
                "longestGapSeconds", "lossFraction", "nacksSent", "packets", "packetsLost", "packetsRecovered",
                "pauseCount", "pauseSeconds", "recoveriesWithoutKeyframe", "secondsToFirstFrame", "width",
            ])
        #expect(try JSONDecoder().decode(ClientReport.self, from: data).receivedVideo.frames == 1)
    }
}

@Suite("Relay's part of the delay")
struct RelayDelayTests {
    private static func ledger(_ stages: [Double], total: Double, count: Int = 10) -> [RoomReport.Latency] {
        stages.map { .init(stage: "s", count: count, meanMilliseconds: $0, p95Milliseconds: $0) }
            + [.init(stage: "total", count: count, meanMilliseconds: total, p95Milliseconds: total * 2)]
    }

    @Test("delay that the relay does not report counts as spent elsewhere")
    func elsewhere() throws {
        let delay = try #require(
            ClientReport.RelayDelay(Self.ledger([10, 20], total: 30), measured: .milliseconds(45)))
        #expect(delay.meanSeconds == 0.03 && delay.p95Seconds == 0.06)
        #expect(delay.elsewhereSeconds == 0.015)
        #expect(delay.addsUp && delay.stages.count == 2)
    }

    @Test("a ledger fails the check if its stages do not sum to its total, or its total exceeds the measured one")
    func mismatches() throws {
        #expect(
            ClientReport.RelayDelay(Self.ledger([10, 20], total: 35), measured: .milliseconds(45))?.addsUp == false)
        #expect(
            ClientReport.RelayDelay(Self.ledger([10, 20], total: 30), measured: .milliseconds(25))?.addsUp == false)
        #expect(ClientReport.RelayDelay(Self.ledger([], total: 0, count: 0), measured: .milliseconds(25)) == nil)
    }
}
