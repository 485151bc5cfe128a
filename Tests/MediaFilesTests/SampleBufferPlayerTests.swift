import MediaCore
import NIOCore
import PixelTransfer
import Synchronization
import Testing
import VideoCoding

@testable import MediaFiles

@Suite("Sample buffer player")
struct SampleBufferPlayerTests {
    /// 60 frames, with a keyframe every fifteenth.
    private static let stream = (try? encoded(60, dimensions: smallPicture)) ?? []
    private static let smallPicture = VideoDimensions(width: 128, height: 96)

    private static func encoded(_ count: Int, dimensions: VideoDimensions) throws -> [SampleBuffer] {
        let outputs = EncodeOutputQueue()
        let encoder = try CompressionSession(
            dimensions: dimensions, properties: CompressionProperties(averageBitRate: .megabits(1)),
            outputHandler: outputs.append)
        return try (0..<count).map { number in
            var picture = MutablePixelBuffer(format: .i420, dimensions: dimensions)
            picture.withI420Region { $0.fill(luma: UInt8(clamping: 16 + 3 * number)) }
            try encoder.encode(
                picture.freeze(), presentationTime: frameTime(number),
                options: EncodeOptions(forceKeyframe: number % 15 == 0))
            return try #require(outputs.next()?.frame).sample
        }
    }

    private func samples(_ range: Range<Int> = 0..<60) throws -> [SampleBuffer] {
        try #require(Self.stream.count == 60)
        return Array(Self.stream[range])
    }

    @Test("pictures are shown at their times")
    func punctual() throws {
        let rig = PlayerRig()
        for sample in try samples(0..<10) { rig.player.enqueue(sample) }
        rig.timebase.setRate(1)
        rig.advance(frames: 4)
        #expect(rig.numbers == [0, 1, 2, 3, 4])
        rig.advance(frames: 20)
        #expect(rig.numbers == Array(0..<10))
        #expect(rig.isPunctual)
        #expect(rig.player.statistics.late == 0)
        #expect(rig.player.statistics.shown == 10)
    }

    @Test("pictures come as the attributes ask for them")
    func attributes() throws {
        let half = VideoDimensions(width: Self.smallPicture.width / 2, height: Self.smallPicture.height / 2)
        let rig = PlayerRig(.init(attributes: PixelBufferAttributes(formats: [.nv12], dimensions: half)))
        for sample in try samples(0..<10) { rig.player.enqueue(sample) }
        rig.timebase.setRate(1)
        rig.advance(frames: 20)
        #expect(rig.numbers == Array(0..<10))
        #expect(rig.pictures.allSatisfy { $0.pixelBuffer.format == .nv12 && $0.pixelBuffer.dimensions == half })
    }

    @Test("while time does not advance, the first picture is shown and no other")
    func paused() throws {
        let rig = PlayerRig()
        for sample in try samples(0..<10) { rig.player.enqueue(sample) }
        rig.advance(frames: 30)
        #expect(rig.numbers == [0])
        #expect(rig.player.statistics.waitingPictures == 4)
    }

    @Test("the rate decides how fast, and pausing holds the picture", arguments: [0.5, 1, 2, 8])
    func rates(rate: Double) throws {
        let rig = PlayerRig()
        for sample in try samples() { rig.player.enqueue(sample) }
        rig.timebase.setRate(rate)
        rig.clock.advance(by: MediaTime(value: 16, timescale: 30).multiplied(by: 2, over: Int64(rate * 2)).duration)
        #expect(rig.numbers == Array(0..<16) || rig.numbers == Array(0...16))
        let shown = rig.numbers.count
        rig.timebase.setRate(0)
        rig.advance(frames: 100)
        #expect(rig.numbers.count == shown)
        rig.timebase.setRate(rate)
        rig.advance(frames: 1000)
        #expect(rig.numbers == Array(0..<60))
        #expect(rig.player.statistics.late == 0)
    }

    @Test("a source that is pulled is shown completely, in the memory of a few samples and pictures")
    func pulled() throws {
        let rig = PlayerRig(.init(readySampleCount: 8, pictureCount: 3))
        var long: [SampleBuffer] = []
        for round in 0..<10 {
            for var sample in try samples() {
                sample.presentationTime = sample.presentationTime + frameTime(60 * round)
                long.append(sample)
            }
        }
        let feed = SampleFeed(long)
        let player = rig.player
        player.requestMediaData { [weak player] in player.map(feed.give(to:)) }
        rig.timebase.setRate(1)
        for _ in 0..<25 { rig.advance(frames: 30) }
        #expect(rig.numbers == Array(0..<600))
        #expect(rig.isPunctual)
        #expect(feed.mostWaiting.samples <= 8)
        #expect(feed.mostWaiting.pictures <= 3)
        #expect(rig.endCount == 1)
    }

    @Test("the end is reported once, when the last picture's time is over")
    func end() throws {
        let rig = PlayerRig()
        for sample in try samples(0..<3) { rig.player.enqueue(sample) }
        rig.player.endOfMedia()
        #expect(!rig.player.enqueue(try samples()[0]))
        rig.advance(frames: 50)
        #expect(rig.endCount == 0)
        rig.timebase.setRate(1)
        rig.advance(frames: 2)
        #expect(rig.endCount == 0)
        rig.advance(frames: 50)
        #expect(rig.endCount == 1)
        #expect(try #require(rig.endTime) - frameTime(3) <= MediaTime(value: 1, timescale: 1_000_000_000))
    }

    @Test("an empty stream ends at once")
    func empty() {
        let rig = PlayerRig()
        rig.player.endOfMedia()
        rig.advance()
        #expect(rig.endCount == 1)
    }

    @Test("of pictures that are due together the newest is shown, and the others are late")
    func late() throws {
        let rig = PlayerRig()
        for sample in try samples(0..<10) { rig.player.enqueue(sample) }
        rig.advance()
        #expect(rig.player.statistics.waitingPictures == 4)
        // Pictures 1 to 4 wait, decoded.
        rig.timebase.setTime(frameTime(3))
        rig.advance()
        #expect(rig.numbers == [0, 3])
        #expect(rig.player.statistics.late == 2)
        rig.timebase.setRate(1)
        rig.advance(frames: 10)
        #expect(rig.numbers == [0, 3, 4, 5, 6, 7, 8, 9])
    }

    @Test("a picture that comes late with none after it is shown")
    func lateAlone() throws {
        let rig = PlayerRig()
        rig.timebase.setRate(1)
        rig.advance(frames: 30)
        rig.player.enqueue(try samples()[0])
        rig.advance()
        #expect(rig.numbers == [0])
        #expect(rig.player.statistics.largestLateness >= .milliseconds(999))
    }

    @Test("samples that nothing refers to are not decoded when their time is over")
    func skips() throws {
        let rig = PlayerRig()
        rig.timebase.setTime(frameTime(20))
        for (number, sample) in try samples(0..<30).enumerated() {
            var sample = sample
            sample.duration = frameTime(1)
            // Not so in truth: the stream's frames refer to one another. It shows which ones were decoded.
            sample.dependency.isDependedOn = number % 2 == 0
            rig.player.enqueue(sample)
        }
        rig.timebase.setRate(1)
        rig.advance(frames: 20)
        #expect(rig.player.statistics.skipped == 10)
        #expect(rig.numbers.last == 29)
    }

    @Test("a seek shows the picture that is seen at its time, and none before")
    func seek() throws {
        let rig = PlayerRig()
        for sample in try samples(0..<10) { rig.player.enqueue(sample) }
        rig.timebase.setRate(1)
        rig.advance(frames: 5)
        rig.timebase.setTime(frameTime(40) + MediaTime(value: 100, timescale: 90_000))
        rig.player.flush(showingFrom: rig.timebase.time)
        // Decoding begins at the keyframe before.
        for sample in try samples(30..<60) { rig.player.enqueue(sample) }
        rig.player.endOfMedia()
        rig.advance(frames: 60)
        #expect(rig.numbers == Array(0...5) + Array(40..<60))
        #expect(rig.player.statistics.prerolled == 10)
        #expect(rig.player.statistics.late == 0)
        #expect(rig.endCount == 1)
    }

    @Test("a seek while paused shows the one picture")
    func seekPaused() throws {
        let rig = PlayerRig(.init(pictureCount: 2))
        rig.timebase.setTime(frameTime(22))
        rig.player.flush(showingFrom: frameTime(22))
        for sample in try samples(15..<60) { rig.player.enqueue(sample) }
        rig.advance(frames: 10)
        #expect(rig.numbers == [22])
    }

    @Test("a seek beyond the last picture shows that one")
    func seekBeyondEnd() throws {
        let rig = PlayerRig()
        rig.timebase.setTime(frameTime(1000))
        rig.player.flush(showingFrom: frameTime(1000))
        for sample in try samples() { rig.player.enqueue(sample) }
        rig.player.endOfMedia()
        rig.advance()
        #expect(rig.numbers == [59])
        #expect(rig.endCount == 1)
    }

    @Test("a flush discards samples that were not shown, and the player can be used again after the end")
    func flush() throws {
        let rig = PlayerRig()
        for sample in try samples(0..<10) { rig.player.enqueue(sample) }
        rig.player.endOfMedia()
        rig.timebase.setRate(1)
        rig.advance(frames: 3)
        rig.player.flush()
        rig.advance(frames: 30)
        #expect(rig.numbers == [0, 1, 2, 3])
        #expect(rig.endCount == 0)
        rig.timebase.setTime(.zero)
        for sample in try samples(0..<2) { rig.player.enqueue(sample) }
        rig.player.endOfMedia()
        rig.advance(frames: 30)
        #expect(rig.numbers == [0, 1, 2, 3, 0, 1])
        #expect(rig.endCount == 1)
    }

    @Test("requests of media data end when they are stopped")
    func stopRequesting() throws {
        let rig = PlayerRig(.init(readySampleCount: 4))
        let feed = SampleFeed(try samples())
        let player = rig.player
        player.requestMediaData { [weak player] in player.map(feed.give(to:)) }
        rig.timebase.setRate(1)
        rig.advance(frames: 5)
        player.stopRequestingMediaData()
        let calls = feed.callCount
        rig.advance(frames: 60)
        #expect(feed.callCount == calls)
        #expect(rig.numbers.count < 20)
    }

    @Test("a source without samples is not polled")
    func starving() throws {
        let rig = PlayerRig()
        let count = Atomic(0)
        rig.player.requestMediaData { count.add(1, ordering: .relaxed) }
        rig.timebase.setRate(1)
        rig.advance(frames: 60)
        #expect(count.load(ordering: .relaxed) == 1)
        // A sample that was given unasked makes the player ask again.
        rig.player.enqueue(try samples()[0])
        rig.advance()
        #expect(count.load(ordering: .relaxed) == 2)
    }

    @Test("samples of a source that is not shown are refused up to a keyframe")
    func refusal() throws {
        let rig = PlayerRig(.init(maximumSampleCount: 10))
        let taken = try samples().map { rig.player.enqueue($0) }
        #expect(taken == (0..<60).map { $0 < 10 })
        rig.timebase.setRate(1)
        rig.advance(frames: 15)
        // Frame 46 refers to frames that are missing.
        #expect(!rig.player.enqueue(try samples()[46]))
        #expect(rig.player.enqueue(try samples()[45]))
        #expect(rig.player.enqueue(try samples()[46]))
        #expect(rig.player.statistics.refused == 51)
    }

    @Test("pictures without times follow one another")
    func untimed() throws {
        let rig = PlayerRig(.init(untimedPictureDuration: MediaTime(value: 1, timescale: 15)))
        for var sample in try samples(0..<6) {
            sample.presentationTime = .invalid
            rig.player.enqueue(sample)
        }
        rig.player.endOfMedia()
        rig.timebase.setRate(1)
        rig.advance(frames: 60)
        #expect(rig.numbers == [0, 2, 4, 6, 8, 10])
        #expect(try #require(rig.endTime) >= frameTime(12))
        #expect(rig.isPunctual)
    }

    @Test("a sample that cannot be decoded is reported, and playing continues")
    func failure() throws {
        let rig = PlayerRig()
        var samples = try samples(0..<30)
        samples[3].data = BlockBuffer(ByteBuffer(bytes: [0, 0, 0, 200, 1, 2]))
        for sample in samples { rig.player.enqueue(sample) }
        rig.timebase.setRate(1)
        rig.advance(frames: 60)
        #expect(rig.errorCount == 1)
        #expect(rig.player.statistics.failed == 1)
        #expect(rig.numbers.last == 29)
    }

    @Test("a stream that changes its size is shown in order")
    func formatChange() throws {
        let rig = PlayerRig()
        let other = try Self.encoded(5, dimensions: VideoDimensions(width: 64, height: 64))
        for sample in try samples(0..<5) { rig.player.enqueue(sample) }
        for var sample in other {
            sample.presentationTime = sample.presentationTime + frameTime(5)
            rig.player.enqueue(sample)
        }
        rig.timebase.setRate(1)
        rig.advance(frames: 20)
        #expect(rig.numbers == Array(0..<10))
        #expect(rig.pictures.map(\.pixelBuffer.dimensions.width) == [128, 128, 128, 128, 128, 64, 64, 64, 64, 64])
    }

    @Test("nothing is shown while time runs backward, and playing continues forward")
    func backward() throws {
        let rig = PlayerRig()
        for sample in try samples(0..<20) { rig.player.enqueue(sample) }
        rig.timebase.setRate(1)
        rig.advance(frames: 5)
        rig.timebase.setRate(-1)
        rig.advance(frames: 10)
        #expect(rig.numbers == [0, 1, 2, 3, 4, 5])
        rig.timebase.setRate(1)
        rig.advance(frames: 11)
        #expect(rig.numbers == [0, 1, 2, 3, 4, 5, 6])
        #expect(rig.isPunctual)
    }

    @Test("a player follows the timebase that its own depends on")
    func chain() throws {
        let clock = VirtualMediaClock()
        let master = Timebase(clock: clock)
        let own = Timebase(source: master)
        own.setRate(1)
        let shown = Atomic(0)
        let player = SampleBufferPlayer(timebase: own) { _ in shown.add(1, ordering: .relaxed) }
        for sample in try samples(0..<10) { player.enqueue(sample) }
        clock.advance(by: .seconds(1))
        #expect(shown.load(ordering: .relaxed) == 1)
        master.setRate(2)
        clock.advance(by: .milliseconds(70))
        #expect(shown.load(ordering: .relaxed) == 5)
        master.setRate(0)
        clock.advance(by: .seconds(1))
        #expect(shown.load(ordering: .relaxed) == 5)
    }

    @Test("a player that nobody holds is gone, with its timers")
    func release() throws {
        let clock = VirtualMediaClock()
        let timebase = Timebase(clock: clock)
        var player: SampleBufferPlayer? = SampleBufferPlayer(timebase: timebase) { _ in }
        weak let weakPlayer = player
        for sample in try samples(0..<10) { player?.enqueue(sample) }
        timebase.setRate(1)
        clock.advance(by: .milliseconds(40))
        #expect(clock.nextDeadline != nil)
        player = nil
        #expect(weakPlayer == nil)
        #expect(clock.nextDeadline == nil)
    }

    @Test("on the machine's clock a stream is shown in order, and ends")
    func systemClock() async throws {
        let (events, continuation) = AsyncStream.makeStream(of: SampleBufferPlayer.Event.self)
        let timebase = Timebase(clock: SystemMediaClock.shared)
        let player = SampleBufferPlayer(timebase: timebase) { continuation.yield($0) }
        let feed = SampleFeed(try samples())
        player.requestMediaData { [weak player] in player.map(feed.give(to:)) }
        timebase.setRate(20)
        var last = MediaTime.negativeInfinity
        var isOrdered = true
        for await event in events {
            if case .ended = event { break }
            guard case .picture(let picture) = event else { continue }
            isOrdered = isOrdered && picture.presentationTime > last
            last = picture.presentationTime
        }
        #expect(isOrdered)
        #expect(last == frameTime(59))
        let statistics = player.statistics
        #expect(statistics.shown + statistics.late == 60)
    }
}
