import AudioMixing
import Compositing
import MediaCore
import NIOCore
import Testing

@testable import Conference

/// The timeline of a room's last minute, on virtual time and without media.
@Suite struct TimelineTests {
    // MARK: Ticks

    @Test("ticks that were left out, skipped or late are seen where they were")
    func ticks() {
        let film = TimelineFilm()
        film.run(.seconds(2))
        film.missed += 2
        film.index += 9
        film.run(.seconds(1))
        let captured = film.now
        film.timeline.composed(
            CompositionWork(captureTime: captured, rendered: 2, reused: 1), interval: TimelineFilm.frame,
            now: captured + .milliseconds(20))
        film.timeline.composed(
            CompositionWork(captureTime: captured, passedThrough: 1, fellBack: 1), interval: TimelineFilm.frame,
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
        let film = TimelineFilm()
        film.run(.seconds(2))
        let left = film.now
        func tick(_ duration: Duration) {
            let end = film.now + duration
            while film.now < end {
                film.timeline.tick(index: film.index, missedTicks: 0, now: film.now)
                film.index += 1
                film.now += TimelineFilm.frame
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
        let film = TimelineFilm()
        film.run(.seconds(100)) { reading, now in
            reading.isOn.toggle()
            reading.dimensions = VideoDimensions(width: reading.isOn ? 64 : 32, height: 32)
        }
        #expect(film.timeline.sources[0].states.elements.count <= 128)
        #expect(film.timeline.sources[0].formats.elements.count <= 64)
    }

    @Test("rows come and go without being confused")
    func rowsInOrder() throws {
        let film = TimelineFilm()
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
        let film = TimelineFilm()
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
        let snapshot = timeline.snapshot(room: "demo", tickInterval: TimelineFilm.frame, now: now) { "\($0)" }
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
