import Compositing
import H264
import MediaCore
import NIOCore
import Testing

@testable import Conference

/// Frames that come faster than they are decoded.
@Suite struct UplinkPipelineTests {
    private static let format = VideoFormatDescription(
        parameterSets: [],
        properties: .init(
            profileLevel: .init(profileIDC: 66, constraintFlags: 0xC0, levelIDC: 31),
            dimensions: VideoDimensions(width: 160, height: 90),
            codedDimensions: VideoDimensions(width: 160, height: 96)))

    private func frame(isSync: Bool) -> ReceivedVideoFrame {
        ReceivedVideoFrame(
            sample: SampleBuffer(data: BlockBuffer(), format: Self.format, presentationTime: .zero, isSync: isSync),
            firstArrival: .zero, lastArrival: .zero)
    }

    @Test("a keyframe and a flood of frames behind it wait within the bound, and a keyframe is asked for")
    func floodBehindAKeyFrame() {
        let pipeline = UplinkPipeline(source: .camera(1), queue: JobQueueID(rawValue: 1))
        var requests = 0
        for index in 0..<1000 {
            if pipeline.enqueue(frame(isSync: index == 0), now: .zero) { requests += 1 }
            #expect(pipeline.queuedFrames <= UplinkPipeline.maximumPendingFrames)
        }
        #expect(requests > 0)
        #expect(pipeline.framesDropped >= 1000 - UInt64(UplinkPipeline.maximumPendingFrames))
    }

    @Test("what waits in front of the newest keyframe is dropped without asking for another")
    func skipsToTheNewestKeyFrame() {
        let pipeline = UplinkPipeline(source: .camera(1), queue: JobQueueID(rawValue: 1))
        for index in 0...UplinkPipeline.maximumPendingFrames {
            let needsKeyFrame = pipeline.enqueue(frame(isSync: index == 10), now: .zero)
            #expect(!needsKeyFrame)
        }
        #expect(pipeline.framesDropped == 10)
        #expect(pipeline.queuedFrames == UplinkPipeline.maximumPendingFrames - 9)
    }
}
