import MediaCore
import Testing

@testable import VideoCoding

@Suite(
    "With real content", .serialized,
    .enabled(if: clipFolder != nil, "CONFRELAY_CONFORMANCE_DIR names no folder of clips"))
struct RealContentTests {
    @Test(
        "rate steps are followed within a tenth over the next 15 frames, no frame beyond the bound, without a keyframe",
        arguments: backEnds, EncoderPreset.allCases)
    func steps(backEnd: EncoderBackEnd, preset: EncoderPreset) throws {
        let clip = try RealClip("Zhling_1280x720.264")
        let bound = DataSize(bytes: 40_000)
        let encoder = try TestEncoder(backEnd, clip.dimensions, bitRate: .megabits(1.5), profile: .high) {
            $0.preset = preset
            $0.maxFrameBytes = bound
        }
        var number = 0
        func encode(_ count: Int) throws -> [EncodedFrame] {
            try (0..<count).map { _ in
                defer { number += 1 }
                return try #require(try encoder.encode(clip.picture(number), number))
            }
        }
        var samples = try encode(60).map(\.sample)
        for target in [BitRate.kilobits(500), .megabits(2)] {
            try encoder.session.set(\.averageBitRate, to: target)
            let frames = try encode(30)
            samples += frames.map(\.sample)
            #expect(!frames.contains { $0.isKeyframe })
            let share = BitRate(Array(frames.prefix(15)).size, over: .milliseconds(500)) / target
            #expect(abs(share - 1) < 0.1, "\(share) of \(target)")
        }
        let statistics = encoder.session.statistics
        #expect(statistics.largestDeltaFrame <= bound)
        #expect(statistics.keyframes == 1)
        #expect(try expectEqualPictures(Array(samples.prefix(20))) == 20)
    }
}
