import Foundation
import MediaCore
import RoomMediaFixtures
import Testing

@testable import RoomMedia

/// The parts that a live stream is made of.
@Suite struct LiveSegmenterTests {
    @Test("audio does not gather without end while no picture comes")
    func audioAlone() throws {
        let stream = LiveStream()
        let segmenter = try LiveSegmenter(
            stream: stream, frameRate: 30, bitRate: .kilobits(500), clock: { Date(timeIntervalSince1970: 0) })
        for index in 0..<10 {
            try segmenter.take(CompositeSamples.picture(index))
            try segmenter.take(CompositeSamples.sound(index))
        }
        // Five minutes.
        for index in 10..<9000 { try segmenter.take(CompositeSamples.sound(index)) }
        try segmenter.take(CompositeSamples.picture(9000))
        segmenter.finish()
        var size = DataSize.zero
        stream.update { size = $0.size }
        #expect(size > .zero && size < DataSize(bytes: 60_000), "\(size)")
    }
}
