import MediaCore
import Testing

@testable import Conference

/// The states, counts and sizes of one camera in the timeline of its room, on virtual time and without media.
@Suite struct SourceTimelineTests {
    @Test("frames are counted in the tenth of a second in which they came")
    func counts() throws {
        let film = TimelineFilm()
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
        let film = TimelineFilm()
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
        let film = TimelineFilm()
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
        let film = TimelineFilm()
        var tick = 0
        film.run(.seconds(20)) { reading, now in
            tick += 1
            if tick.isMultiple(of: 6) { TimelineFilm.play(&reading, now) }
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
            let film = TimelineFilm()
            film.run(.seconds(2))
            film.run(.seconds(1)) { reading, _ in change(&reading) }
            #expect(film.source?.states.last?.cause == cause)
            film.run(.seconds(1))
            #expect(film.source?.states[1].cause == cause)
        }
    }

    @Test("a screen share without changes is not frozen, nor is a camera that is off")
    func standingStill() throws {
        let film = TimelineFilm()
        film.reading.mayStandStill = true
        film.run(.seconds(1))
        film.run(.seconds(5)) { _, _ in }
        #expect(film.source?.states.map(\.state) == [.playing])
        let camera = TimelineFilm()
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
        let film = TimelineFilm()
        film.run(.seconds(1))
        film.run(.seconds(6)) { _, _ in }
        film.run(.seconds(3)) { reading, _ in reading.dimensions = nil }
        let states = try #require(film.source?.states)
        #expect(states.map(\.state) == [.playing, .frozen, .gone])
        #expect(states.last?.cause == .nothingArrived)
    }

    @Test("a change of size is seen, with the new size")
    func formats() throws {
        let film = TimelineFilm()
        film.run(.seconds(2))
        film.reading.dimensions = VideoDimensions(width: 360, height: 640)
        film.run(.seconds(1))
        let formats = try #require(film.source?.formats)
        #expect(formats.map { [$0.width, $0.height] } == [[640, 360], [360, 640]])
        #expect(abs(try #require(formats.last).time + 1) < 0.05)
    }
}
