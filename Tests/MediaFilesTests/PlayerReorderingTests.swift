import H264Fixtures
import MediaCore
import Testing
import VideoCoding

@testable import MediaFiles

@Suite("A file whose stream misstates its reordering")
struct PlayerReorderingTests {
    /// Two sequences of a keyframe and two groups of eight in the order of a deep pyramid, without times.
    private func samples(_ stream: inout RawPictureStream) -> [SampleBuffer] {
        let group: [(UInt32, Bool)] = [
            (8, true), (4, true), (2, true), (1, false), (3, false), (6, true), (5, false), (7, false),
        ]
        var samples: [SampleBuffer] = []
        for sequence in 0..<2 as Range<UInt32> {
            let luma = 16 + 17 * sequence
            samples.append(stream.frame(UInt8(luma), order: 0, isIDR: true))
            for start in [0, 8] as [UInt32] {
                for (position, isReference) in group {
                    let number = start + position
                    samples.append(stream.frame(UInt8(luma + number), order: 2 * number, isReference: isReference))
                }
            }
        }
        for index in samples.indices { samples[index].presentationTime = .invalid }
        return samples
    }

    @Test(
        "is shown completely and in order: Baseline, reordering unstated, none, too little",
        arguments: [(66, nil), (77, nil), (77, 0), (77, 1)] as [(Int, Int?)])
    func complete(profileIDC: Int, reorderFrames: Int?) throws {
        var stream = try RawPictureStream(profileIDC: profileIDC, reorderFrames: reorderFrames)
        let rig = PlayerRig(.init(reordering: .complete))
        let feed = SampleFeed(samples(&stream))
        rig.player.requestMediaData { feed.give(to: rig.player) }
        rig.timebase.setRate(1)
        rig.advance(frames: 100)
        #expect(rig.pictures.map { $0.pixelBuffer.luma(x: 0, y: 0) } == (16..<50).map { UInt8($0) })
        #expect(rig.numbers == Array(0..<34))
        #expect(rig.player.statistics.dropped == 0 && rig.player.statistics.late == 0)
        #expect(rig.endCount == 1)
    }
}
