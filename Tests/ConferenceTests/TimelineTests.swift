import AudioMixing
import Compositing
import MediaCore
import NIOCore
import Testing

@testable import Conference

/// The timeline of a room's last minute, on virtual time and without media.
@Suite struct TimelineTests {
    private typealias Snapshot = RoomTimelineSnapshot

    private static let frame = Duration.nanoseconds(33_333_333)

    /// A timeline with one camera, whose frames are counted as they would be.
    private final class Film {
        let timeline = RoomTimeline()
        var now = MonotonicInstant(nanoseconds: 5_000_000_000)
        var reading = SourceReading(dimensions: VideoDimensions(width: 640, height: 360))
        var index: Int64 = 0
        var missed: UInt64 = 0

        /// Runs ticks for `duration`; at each, `change` can change the camera's reading.
        func run(_ duration: Duration, _ change: (inout SourceReading, MonotonicInstant) -> Void = Film.play) {
            let end = now + duration
            while now < end {
                change(&reading, now)
                timeline.tick(index: index, missedTicks: missed, now: now)
                timeline.observe(reading, of: .camera(1), now: now) { ("p1", "Ben") }
                index += 1
                now += TimelineTests.frame
            }
        }

        static func play(_ reading: inout SourceReading, _ now: MonotonicInstant) {
            reading.framesArrived += 1
            reading.framesDecoded += 1
            reading.pictureTime = now
        }

        func snapshot() -> RoomTimelineSnapshot {
            timeline.snapshot(room: "demo", tickInterval: TimelineTests.frame, now: now) { "\($0)" }
        }

        var source: RoomTimelineSnapshot.Source? { snapshot().sources.first }
    }

    // MARK: Rings

    @Test("a ring keeps the newest buckets and forgets the others")
    func ring() {
        var ring = TimelineRing(empty: 0, count: 4)
        #expect(ring[0] == nil)
        for index in Int64(-3)...6 { ring.update(index) { $0 += Int(index) } }
        #expect((0...7).map { ring[$0] } == [nil, nil, nil, 3, 4, 5, 6, nil])
        ring.update(4) { $0 += 10 }
        #expect(ring[4] == 14)
        ring.update(2) { $0 = 99 }
        #expect(ring[2] == nil && ring[6] == 6)
    }

    @Test("buckets in which nothing happened are empty, however many there were")
    func gaps() {
        for gap in [2, 3, 4, 5, 1000, Int64.max / 4] {
            var ring = TimelineRing(empty: 0, count: 4)
            ring.update(0) { $0 = 7 }
            ring.update(gap) { $0 = 8 }
            #expect(ring[gap] == 8)
            for index in max(1, gap - 3)..<gap { #expect(ring[index] == 0) }
            #expect(ring[0] == (gap < 4 ? 7 : nil))
        }
    }

    @Test("a counter that restarts counts from zero, and a full bucket stays full")
    func counters() {
        var reading = CounterReading()
        #expect([3, 10, 10, 4].map { reading.advance(to: $0) } == [3, 7, 0, 4])
        var count: UInt16 = 65_530
        count.count(.max)
        #expect(count == .max)
    }

    // MARK: Sources

    @Test("frames are counted in the tenth of a second in which they came")
    func counts() throws {
        let film = Film()
        film.run(.seconds(10))
        let source = try #require(film.source)
        #expect(source.arrived.count == 600 && source.decoded.count == 600)
        #expect((300...301).contains(source.arrived.total))
        #expect(source.arrived.prefix(498).allSatisfy { $0 == 0 })
        #expect(source.arrived.suffix(99).dropLast().allSatisfy { $0 > 0 })
        #expect(source.states.map(\.state) == [.playing] && abs(source.states[0].start + 10) < 0.05)
        #expect(source.ended == nil)
    }

    @Test("a source that stalls is frozen from its last picture to the next")
    func freeze() throws {
        let film = Film()
        film.run(.seconds(5))
        let last = try #require(film.reading.pictureTime)
        film.run(.seconds(2)) { _, _ in }
        let frozen = try #require(film.source?.states.last)
        #expect(frozen.state == .frozen && frozen.end == nil && frozen.cause == .nothingArrived)
        #expect(abs(frozen.start - (last - film.now).seconds) < 0.002)
        film.run(.seconds(1))
        let states = try #require(film.source?.states)
        #expect(states.map(\.state) == [.playing, .frozen, .playing])
        #expect(abs(try #require(states[1].end) - states[1].start - 2) < 0.1)
    }

    @Test("a forwarded stretch is no freeze when decoding begins again")
    func forwarded() throws {
        let film = Film()
        film.run(.seconds(3))
        let decoded = film.reading.pictureTime
        film.run(.seconds(10)) { reading, now in
            reading.framesArrived += 1
            reading.isPicturePaused = true
            reading.pictureTime = now
        }
        // The keyframe has come and is in the decoder: the newest decoded picture is that of before.
        film.run(.milliseconds(100)) { reading, _ in
            reading.framesArrived += 1
            reading.isPicturePaused = false
            reading.pictureTime = decoded
        }
        film.run(.seconds(1))
        let states = try #require(film.source?.states)
        #expect(states.map(\.state) == [.playing, .unseen, .playing])
        #expect(abs(try #require(states[1].end) - states[1].start - 10) < 0.1)
    }

    @Test("pictures that come slowly but evenly are no freezes")
    func slowPictures() throws {
        let film = Film()
        var tick = 0
        film.run(.seconds(20)) { reading, now in
            tick += 1
            if tick.isMultiple(of: 6) { Film.play(&reading, now) }
        }
        let late = try #require(film.source).states.filter { $0.state == .frozen && $0.start > -15 }
        #expect(late.isEmpty)
    }

    @Test("a freeze is explained by the packets that came meanwhile")
    func causes() throws {
        let cases: [(RoomTimelineSnapshot.FreezeCause, (inout SourceReading) -> Void)] = [
            (.nothingArrived, { _ in }),
            (.packetsLost, { $0.packetsLost += 1 }),
            (
                .packetsLost,
                {
                    $0.framesArrived += 1
                    $0.framesWithheld += 1
                }
            ),
            (
                .undecodable,
                {
                    $0.framesArrived += 1
                    $0.framesDropped += 1
                }
            ),
            (.relayBusy, { $0.framesArrived += 1 }),
        ]
        for (cause, change) in cases {
            let film = Film()
            film.run(.seconds(2))
            film.run(.seconds(1)) { reading, _ in change(&reading) }
            #expect(film.source?.states.last?.cause == cause)
            film.run(.seconds(1))
            #expect(film.source?.states[1].cause == cause)
        }
    }

    @Test("a screen share without changes is not frozen, nor is a camera that is off")
    func standingStill() throws {
        let film = Film()
        film.reading.mayStandStill = true
        film.run(.seconds(1))
        film.run(.seconds(5)) { _, _ in }
        #expect(film.source?.states.map(\.state) == [.playing])
        let camera = Film()
        camera.run(.seconds(1))
        camera.run(.seconds(2)) { reading, _ in
            reading.isOn = false
            reading.dimensions = nil
        }
        camera.run(.milliseconds(200)) { reading, _ in reading.isOn = true }
        #expect(camera.source?.states.map(\.state) == [.playing, .off, .waiting])
    }

    @Test("a picture that was let go is gone, and why it stood still is known")
    func gone() throws {
        let film = Film()
        film.run(.seconds(1))
        film.run(.seconds(6)) { _, _ in }
        film.run(.seconds(3)) { reading, _ in reading.dimensions = nil }
        let states = try #require(film.source?.states)
        #expect(states.map(\.state) == [.playing, .frozen, .gone])
        #expect(states.last?.cause == .nothingArrived)
    }

    @Test("a change of size is seen, with the new size")
    func formats() throws {
        let film = Film()
        film.run(.seconds(2))
        film.reading.dimensions = VideoDimensions(width: 360, height: 640)
        film.run(.seconds(1))
        let formats = try #require(film.source?.formats)
        #expect(formats.map { [$0.width, $0.height] } == [[640, 360], [360, 640]])
        #expect(abs(try #require(formats.last).time + 1) < 0.05)
    }

    // MARK: Ticks

    @Test("ticks that were left out, skipped or late are seen where they were")
    func ticks() {
        let film = Film()
        film.run(.seconds(2))
        film.missed += 2
        film.index += 9
        film.run(.seconds(1))
        let captured = film.now
        film.timeline.composed(
            CompositionWork(captureTime: captured, rendered: 2, reused: 1), interval: Self.frame,
            now: captured + .milliseconds(20))
        film.timeline.composed(
            CompositionWork(captureTime: captured, passedThrough: 1, fellBack: 1), interval: Self.frame,
            now: captured + .milliseconds(50))
        film.now = captured + .milliseconds(50)
        let ticks = film.snapshot().ticks
        #expect(ticks.missed.total == 2 && ticks.skipped.total == 9)
        #expect(ticks.composed.total == 2 && ticks.late.total == 1 && ticks.slowest.max() == 50)
        #expect(
            [ticks.rendered.total, ticks.reused.total, ticks.passedThrough.total, ticks.fellBack.total] == [2, 1, 1, 1])
        #expect(ticks.missed.firstIndex { $0 > 0 } == ticks.skipped.firstIndex { $0 > 0 })
    }

    // MARK: Rows that come and go

    @Test("the row of a participant that left stays for a minute, with the time at which they left")
    func leaving() throws {
        let film = Film()
        film.run(.seconds(2))
        let left = film.now
        func tick(_ duration: Duration) {
            let end = film.now + duration
            while film.now < end {
                film.timeline.tick(index: film.index, missedTicks: 0, now: film.now)
                film.index += 1
                film.now += Self.frame
            }
        }
        tick(.seconds(5))
        let ended = try #require(film.source?.ended)
        #expect(abs(ended - (left - film.now).seconds) < 0.05)
        #expect(film.source?.states.last?.end == ended)
        tick(.seconds(54))
        #expect(film.source != nil)
        tick(.seconds(3))
        #expect(film.source == nil && film.timeline.sources.isEmpty)
    }

    @Test("rows are bounded in number and in length, and participants without a row are counted")
    func bounds() {
        let timeline = RoomTimeline()
        var now = MonotonicInstant.zero
        for round in 0..<4 {
            timeline.tick(index: Int64(round), missedTicks: 0, now: now)
            for id in 0..<1000 {
                let id = ParticipantID(rawValue: UInt64(id))
                timeline.observe(SourceReading(), of: .camera(id), now: now) { ("p", "x") }
                timeline.observe(
                    AudioSourceReport(level: .silence, statistics: AudioSourceStatistics()), mix: nil, of: id, now: now
                ) { ("p", "x") }
                timeline.encoder(JobQueueID(rawValue: id.rawValue), now: now)?.observe(EncoderReading(), now: now)
            }
            now += .milliseconds(33)
        }
        #expect(timeline.sources.count == 256 && timeline.audio.count == 256 && timeline.encoders.count == 256)
        #expect(timeline.rowsLeftOut == 4 * 3 * (1000 - 256))
        // One camera that goes on and off at every tick for a long time.
        let film = Film()
        film.run(.seconds(100)) { reading, now in
            reading.isOn.toggle()
            reading.dimensions = VideoDimensions(width: reading.isOn ? 64 : 32, height: 32)
        }
        #expect(film.timeline.sources[0].states.elements.count <= 128)
        #expect(film.timeline.sources[0].formats.elements.count <= 64)
    }

    @Test("rows come and go without being confused")
    func rowsInOrder() throws {
        let film = Film()
        let reading = SourceReading()
        for second in 0..<200 {
            film.now = MonotonicInstant(nanoseconds: Int64(second) * 1_000_000_000)
            film.timeline.tick(index: Int64(second), missedTicks: 0, now: film.now)
            for id in (second / 10)..<(second / 10 + 3) {
                film.timeline.observe(reading, of: .camera(ParticipantID(rawValue: UInt64(id))), now: film.now) {
                    ("p\(id)", "n\(id)")
                }
            }
        }
        let people = film.snapshot().sources
        #expect(people.filter { $0.ended == nil }.map(\.person.id) == ["p19", "p20", "p21"])
        #expect(Set(people.map(\.person.id)).count == people.count)
    }

    // MARK: Audio

    @Test("an audio source has its level and its gain in the mix, and the mix has its limiter's reduction")
    func audio() throws {
        let film = Film()
        var statistics = AudioSourceStatistics()
        for tick in 0..<10 {
            if tick == 7 { statistics.concealed = .milliseconds(20) }
            let now = film.now + .milliseconds(20) * tick
            film.timeline.observe(
                AudioSourceReport(
                    level: AudioLevel(decibelsBelowOverload: tick < 5 ? 30 : 120, isVoice: tick < 5),
                    mixGain: tick < 5 ? 1 : 0, statistics: statistics),
                mix: EncodedAudio(payload: ByteBuffer(), level: AudioLevel(decibelsBelowOverload: 20)), of: 1, now: now
            ) { ("p1", "Ben") }
            var result = AudioTickResult()
            result.encodeCount = 2
            result.limiterGain = tick == 3 ? 0.5 : 1
            film.timeline.mixed(result, now: now)
        }
        film.now += .milliseconds(199)
        let snapshot = film.snapshot()
        let audio = try #require(snapshot.audio.first)
        #expect(audio.level.suffix(2) == [30, 120] && audio.level.first == .some(nil))
        #expect(audio.gain.suffix(2) == [1, 0] && audio.isVoice.suffix(2) == [true, false])
        #expect(audio.mixLevel.last == 20 && audio.concealed.suffix(2) == [0, 20])
        #expect(snapshot.mix.limiterGain.suffix(2) == [0.5, 1] && snapshot.mix.encodes.suffix(2) == [10, 10])
    }

    // MARK: Encoders

    @Test("an encoder has its target, its keyframes, who asked for them, and what it left out")
    func encoder() throws {
        let timeline = RoomTimeline()
        var now = MonotonicInstant(nanoseconds: 1_000_000_000)
        var reading = EncoderReading(
            targetBitRate: .kilobits(500), dimensions: VideoDimensions(width: 640, height: 360), maximumFrameRate: 30)
        for tick in 0..<60 {
            reading.framesEncoded += 1
            if tick == 30 {
                reading.targetBitRate = .kilobits(300)
                reading.framesLeftOut += 4
                reading.keyframes += 1
            }
            let row = try #require(timeline.encoder(JobQueueID(rawValue: 9), now: now))
            row.observe(1, requests: 5, layerDrops: UInt64(tick), isWaitingForNetwork: tick == 30, now: now) {
                ("p1", "Ada")
            }
            if tick >= 10 {
                row.observe(2, requests: tick < 40 ? 2 : 3, isWaitingForNetwork: false, now: now) { ("p2", "Ben") }
            }
            row.observe(reading, now: now)
            now += .milliseconds(10)
        }
        let snapshot = timeline.snapshot(room: "demo", tickInterval: Self.frame, now: now) { "\($0)" }
        let encoder = try #require(snapshot.encoders.first)
        #expect(encoder.id == 9 && encoder.members.map(\.name) == ["Ada", "Ben"])
        #expect(encoder.targetBitRate.compactMap(\.self).first == 500 && encoder.targetBitRate.suffix(2).first == 300)
        #expect(encoder.encoded.total == 60 && encoder.leftOut.total == 4 && encoder.keyframes.total == 1)
        #expect(encoder.waiting.total == 1)
        #expect(encoder.keyframeRequests == [.init(time: -0.2, name: "Ben")])
        #expect(encoder.layerDrops == [.init(person: .init(id: "p1", name: "Ada"), frames: 59)])
    }

    @Test("a receiver's requests to another encoder do not count for this one")
    func movingReceiver() throws {
        let timeline = RoomTimeline()
        var now = MonotonicInstant(nanoseconds: 1_000_000_000)
        for (tick, requests) in [0, 1, 5, 6].enumerated() {
            let row = try #require(timeline.encoder(JobQueueID(rawValue: 1), now: now))
            if tick != 2 {
                row.observe(1, requests: UInt64(requests), isWaitingForNetwork: false, now: now) { ("p", "Ada") }
            }
            row.observe(EncoderReading(), now: now)
            #expect(row.currentMembers.map(\.name) == ["Ada"])
            now += .milliseconds(33)
        }
        #expect(timeline.encoders[0].keyframeRequests.elements.count == 1)
    }

    // MARK: Instructions

    @Test("instructions have their times from now, their marks and their ramps")
    func instructions() throws {
        func time(_ seconds: Double) -> MediaTime { MediaTime(seconds: seconds, timescale: 1000) }
        let full = PixelRect(x: 0, y: 0, width: 320, height: 180)
        var fading = CompositionLayer(source: .camera(2), rect: full)
        fading.opacityRamps = [
            Ramp(timeRange: MediaTimeRange(start: time(99.9), end: time(100.2)), from: 0, to: 1, easing: .linear)
        ]
        let plan = CompositionPlan(
            canvas: VideoDimensions(width: 320, height: 180),
            instructions: [
                CompositionInstruction(
                    timeRange: MediaTimeRange(start: time(1), end: time(20)), layers: []),
                CompositionInstruction(
                    timeRange: MediaTimeRange(start: time(90), end: time(99.9)),
                    layers: [CompositionLayer(source: .camera(1), rect: full)], passthroughSource: .camera(1)),
                CompositionInstruction(
                    timeRange: MediaTimeRange(start: time(99.9), end: time(100.2)),
                    layers: [CompositionLayer(source: .camera(1), rect: full), fading]),
                CompositionInstruction(
                    timeRange: MediaTimeRange(start: time(100.2), end: .positiveInfinity), layers: [fading]),
            ])
        let view = TimelineView(receivers: [.init(id: "p1", name: "Ada")], plan: plan, now: time(100))
            .snapshot { $0 == .camera(1) ? "Ben" : "Cy" }
        #expect(view.instructions.map(\.start) == [-10, -0.1, 0.2])
        #expect(view.instructions.map(\.end) == [-0.1, 0.2, nil])
        #expect(view.instructions.map(\.containsTweening) == [false, true, true])
        #expect(view.instructions.map(\.passthrough) == ["Ben", nil, nil])
        #expect(view.instructions[1].layers.map(\.source) == ["Ben", "Cy"])
        #expect(
            view.instructions[1].layers[1].opacityRamps
                == [.init(start: -0.1, end: 0.2, from: 0, to: 1, easing: .linear)])
    }
}

extension Sequence<UInt16> {
    fileprivate var total: Int { reduce(0) { $0 + Int($1) } }
}
