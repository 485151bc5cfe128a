import Compositing
import H264
import MediaCore
import MediaFixtures
import NIOCore
import Testing
import VideoCoding

@testable import Conference
@testable import PeerConnection

/// Frames that come faster than they are decoded.
@Suite struct UplinkPipelineTests {
    private func frame(isSync: Bool, width: Int = 160) -> ReceivedVideoFrame {
        let format = VideoFormatDescription(
            parameterSets: [],
            properties: .init(
                profileLevel: .init(profileIDC: 66, constraintFlags: 0xC0, levelIDC: 31),
                dimensions: VideoDimensions(width: width, height: 90),
                codedDimensions: VideoDimensions(width: width, height: 96)))
        return ReceivedVideoFrame(
            sample: SampleBuffer(data: BlockBuffer(), format: format, presentationTime: .zero, isSync: isSync),
            firstArrival: .zero, lastArrival: .zero)
    }

    @Test("a keyframe and a flood of frames behind it wait within the bound, and a keyframe is asked for")
    func floodBehindAKeyframe() {
        let pipeline = UplinkPipeline(source: .camera(1), queue: JobQueueID(rawValue: 1))
        var requests = 0
        for index in 0..<1000 {
            if pipeline.enqueue(frame(isSync: index == 0), now: .zero) { requests += 1 }
            #expect(pipeline.queuedFrames <= UplinkPipeline.maximumPendingFrames)
        }
        #expect(requests == 1)
        #expect(pipeline.framesDropped == UInt64(UplinkPipeline.maximumPendingFrames) + 1)
        #expect(pipeline.queuedFrames == 0, "what follows refers to frames that were dropped")
        _ = pipeline.enqueue(frame(isSync: true), now: .zero)
        #expect(pipeline.queuedFrames == 1)
    }

    @Test("frames that wait before the newest keyframe are dropped without a request for another")
    func skipsToTheNewestKeyframe() {
        let pipeline = UplinkPipeline(source: .camera(1), queue: JobQueueID(rawValue: 1))
        for index in 0...UplinkPipeline.maximumPendingFrames {
            let needsKeyframe = pipeline.enqueue(frame(isSync: index == 10), now: .zero)
            #expect(!needsKeyframe)
        }
        #expect(pipeline.framesDropped == 10)
        #expect(pipeline.queuedFrames == UplinkPipeline.maximumPendingFrames - 9)
    }

    @Test("a sender whose pictures change their size all the time is asked for a keyframe when one is decoded again")
    func changingSizes() {
        let pipeline = UplinkPipeline(source: .camera(1), queue: JobQueueID(rawValue: 1))
        var now = MonotonicInstant.zero
        var (requests, decoded) = (0, 0)
        func send(isSync: Bool, width: Int) {
            now += .milliseconds(50)
            if pipeline.enqueue(frame(isSync: isSync, width: width), now: now) { requests += 1 }
            guard let job = pipeline.takeJob(deadline: now, now: now) else { return }
            decoded += 1
            let completion = JobCompletion(
                kind: job.kind, queue: job.queue, handedOut: now, started: now, finished: now,
                output: .decoded(pipeline.source, DecodedBatch()))
            _ = pipeline.complete(DecodedBatch(), of: completion, now: now)
        }
        // Each 0.35 s another size, which the sender has not had before.
        for index in 0..<602 { send(isSync: index.isMultiple(of: 7), width: 160 + 16 * (index / 7)) }
        #expect((1...15).contains(requests), "\(requests) requests in 30 s")
        #expect(decoded >= 150, "\(decoded) frames of 602")
        // Then it keeps a size that was refused, and makes a keyframe when it is asked.
        send(isSync: true, width: 96)
        (requests, decoded) = (0, 0)
        for _ in 0..<40 where requests == 0 { send(isSync: false, width: 96) }
        #expect(requests == 1 && decoded == 0)
        send(isSync: true, width: 96)
        for _ in 0..<40 { send(isSync: false, width: 96) }
        #expect(requests == 1 && decoded == 41)
    }

    @Test("frames left out on purpose are counted by themselves, and the source does not count as silent for it")
    func skipsOnPurpose() {
        let pipeline = UplinkPipeline(source: .camera(1), queue: JobQueueID(rawValue: 1))
        _ = pipeline.enqueue(frame(isSync: true), now: .zero)
        #expect(!pipeline.setSkipMode(.keyframes))
        for _ in 0..<40 { #expect(!pipeline.enqueue(frame(isSync: false), now: .zero)) }
        #expect(pipeline.framesSkipped == 40 && pipeline.framesDropped == 0 && pipeline.queuedFrames == 1)
        #expect(pipeline.isPicturePaused)
        #expect(pipeline.setSkipMode(.full), "it goes on with a keyframe")
        #expect(pipeline.isPicturePaused)
        _ = pipeline.enqueue(frame(isSync: false), now: .zero)
        #expect(pipeline.framesSkipped == 41)
        _ = pipeline.enqueue(frame(isSync: true), now: .zero)
        #expect(!pipeline.isPicturePaused && pipeline.queuedFrames == 2)
    }

    @Test("a sender that makes no keyframe when it is asked is decoded as it is after two seconds")
    func patience() {
        let pipeline = UplinkPipeline(source: .camera(1), queue: JobQueueID(rawValue: 1))
        _ = pipeline.setSkipMode(.keyframes)
        _ = pipeline.enqueue(frame(isSync: false), now: .zero)
        _ = pipeline.setSkipMode(.full)
        for step in 0...20 {
            _ = pipeline.enqueue(frame(isSync: false), now: .zero + .milliseconds(100 * Int64(step)))
            #expect(pipeline.queuedFrames == (step < 20 ? 0 : 1))
        }
    }

    @Test("frames that were left out here are not taken for some that the sender has left out")
    func goesOnWithoutReferences() throws {
        let outputs = EncodeOutputQueue()
        let dimensions = VideoDimensions(width: 160, height: 96)
        let session = try CompressionSession(
            dimensions: dimensions, properties: CompressionProperties(averageBitRate: .kilobits(300)),
            outputHandler: outputs.append)
        let pipeline = UplinkPipeline(source: .camera(1), queue: JobQueueID(rawValue: 1))
        /// Sends the next frame, and returns true if a keyframe is requested.
        func send(_ number: Int) throws -> Bool {
            let now = MonotonicInstant.zero + .milliseconds(100 * Int64(number))
            try session.encode(
                .pattern(.red, dimensions: dimensions, phase: number),
                presentationTime: MediaTime(value: Int64(number), timescale: 10))
            let sample = try #require(outputs.next()?.frame).sample
            let isRequested = pipeline.enqueue(
                ReceivedVideoFrame(sample: sample, firstArrival: now, lastArrival: now), now: now)
            guard let job = pipeline.takeJob(deadline: now, now: now) else { return isRequested }
            let completion = job.run { now }
            guard case .decoded(_, let batch) = completion.output else { return isRequested }
            return pipeline.complete(batch, of: completion, now: now)
        }
        #expect(try !send(0))
        _ = pipeline.setSkipMode(.keyframes)
        #expect(try !send(1))
        _ = pipeline.setSkipMode(.full)
        for number in 2..<22 { #expect(try !send(number)) }
        let before = try #require(pipeline.newest)
        #expect(try !send(22))
        #expect(pipeline.framesDecoded == 2)
        #expect(pipeline.newest.map { !($0 === before) } ?? false)
    }

    @Test("when a tile grows, the drift from decoding without the loop filter ends, and pictures are shown meanwhile")
    func drift() {
        let pipeline = UplinkPipeline(source: .camera(1), queue: JobQueueID(rawValue: 1))
        _ = pipeline.setSkipMode(.referenceFrames)
        _ = pipeline.enqueue(frame(isSync: true), now: .zero)
        #expect(!pipeline.setSkipMode(.full), "a keyframe has not drifted")
        _ = pipeline.setSkipMode(.referenceFrames)
        _ = pipeline.enqueue(frame(isSync: false), now: .zero)
        #expect(pipeline.setSkipMode(.full))
        #expect(!pipeline.isPicturePaused)
        _ = pipeline.enqueue(frame(isSync: false), now: .zero)
        #expect(pipeline.queuedFrames == 3)
        _ = pipeline.enqueue(frame(isSync: true), now: .zero)
        #expect(!pipeline.setSkipMode(.filteredReferences))
    }

    @Test(
        "frames that the budget refuses are dropped and counted, and decoding goes on at a keyframe when there is room"
    )
    func overBudget() {
        let pipeline = UplinkPipeline(
            source: .camera(1), queue: JobQueueID(rawValue: 1), budget: DecodeBudget(limits: DecodeLimits(workers: 2)))
        func large(isSync: Bool) -> ReceivedVideoFrame {
            var frame = frame(isSync: isSync)
            frame.codedPictures = CodedPictureCount(pictures: 6000, slices: 6000)
            return frame
        }
        #expect(!pipeline.enqueue(large(isSync: true), now: .zero))
        #expect(!pipeline.enqueue(large(isSync: false), now: .zero))
        #expect(pipeline.enqueue(large(isSync: false), now: .zero), "a keyframe is asked for")
        #expect(pipeline.framesRefused == 1 && pipeline.framesDropped == 1 && pipeline.queuedFrames == 2)
        _ = pipeline.enqueue(large(isSync: false), now: .zero + .seconds(1))
        #expect(pipeline.framesSkipped == 1, "what refers to a refused frame is of no use")
        #expect(!pipeline.enqueue(large(isSync: true), now: .zero + .seconds(2)))
        #expect(pipeline.queuedFrames == 3)
    }

    @Test("a sender of few pictures is decoded as it is two seconds after a frame was refused, unless nobody waited")
    func patienceAfterRefusal() {
        func refusing() -> UplinkPipeline {
            let pipeline = UplinkPipeline(
                source: .camera(1), queue: JobQueueID(rawValue: 1),
                budget: DecodeBudget(limits: DecodeLimits(workers: 2)))
            for index in 0..<3 {
                var frame = frame(isSync: index == 0)
                frame.codedPictures = CodedPictureCount(pictures: 6000, slices: 6000)
                _ = pipeline.enqueue(frame, now: .zero)
            }
            #expect(pipeline.framesRefused == 1 && pipeline.queuedFrames == 2)
            return pipeline
        }
        let shown = refusing()
        _ = shown.enqueue(frame(isSync: false), now: .zero + .seconds(2))
        #expect(shown.queuedFrames == 3)
        let hidden = refusing()
        _ = hidden.setSkipMode(.keyframes)
        _ = hidden.enqueue(frame(isSync: false), now: .zero + .seconds(1))
        _ = hidden.setSkipMode(.full)
        _ = hidden.enqueue(frame(isSync: false), now: .zero + .seconds(2))
        #expect(hidden.queuedFrames == 2, "the keyframe is asked for only now")
    }

    @Test("a job takes no more frames than a worker decodes soon, and the rest waits for the next")
    func jobSize() throws {
        let pipeline = UplinkPipeline(source: .camera(1), queue: JobQueueID(rawValue: 1))
        for index in 0..<10 {
            var frame = frame(isSync: index == 0)
            frame.codedPictures = CodedPictureCount(pictures: 200, slices: 200)
            #expect(!pipeline.enqueue(frame, now: .zero))
        }
        var jobs: [Job] = []
        var now = MonotonicInstant.zero
        while let job = pipeline.takeJob(deadline: now, now: now) {
            #expect(pipeline.takeJob(deadline: now, now: now) == nil)
            jobs.append(job)
            now = now + .milliseconds(1)
            let instant = now
            _ = pipeline.complete(DecodedBatch(), of: job.run { instant }, now: now)
        }
        // 160x96 samples, 200 times a frame: two frames have more than four pictures of 1920x1080.
        #expect(jobs.count == 5)
        #expect(pipeline.queuedFrames == 0)
        #expect(zip(jobs, jobs.dropFirst()).allSatisfy { $0.deadline < $1.deadline })
    }
}
