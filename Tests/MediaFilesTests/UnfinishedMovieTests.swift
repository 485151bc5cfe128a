import Foundation
import MediaCore
import Testing

@testable import MediaFiles

/// A file whose writer was killed holds the bytes that reached the operating system. A copy of the file beside a
/// living writer holds the same bytes.
@Suite("Movie files whose writer never finished")
struct UnfinishedMovieTests {
    /// The number of frames that a reader finds in a copy of the file.
    private func readableFrames(of file: TemporaryFile) throws -> Int {
        let copy = TemporaryFile(".mp4", contents: file.contents)
        let reader = try MovieReader(path: copy.path)
        var count = 0
        while try reader.nextSample() != nil { count += 1 }
        return count
    }

    @Test("lose at most the last fragment, at any length", arguments: [31, 45, 62, 100, 180, 300])
    func lastFragmentIsLost(count: Int) throws {
        let file = TemporaryFile(".mp4")
        let samples = try SampleStream.make(count: count)
        let writer = try MovieWriter(path: file.path, video: samples[0].format, layout: .fragmented(every: .seconds(1)))
        for sample in samples { try writer.append(sample) }
        // The frame that completes a fragment belongs to the next one.
        #expect(try readableFrames(of: file) >= count - 31)
        try writer.finish()
        #expect(try readableFrames(of: file) == count)
    }

    @Test("lose no more if the audio track has no packet yet")
    func silentAudioTrack() throws {
        let file = TemporaryFile(".mp4")
        let samples = try SampleStream.make(count: 180)
        let writer = try MovieWriter(
            path: file.path, video: samples[0].format, audio: MovieWriter.OpusTrack(),
            layout: .fragmented(every: .seconds(1)))
        for sample in samples { try writer.append(sample) }
        // Interleaving waits for the audio track as long as one fragment lasts.
        #expect(try readableFrames(of: file) >= 180 - 2 * 31)
        try writer.finish()
        #expect(try readableFrames(of: file) == 180)
    }

    @Test("are valid from the header on")
    func headerAlone() throws {
        let file = TemporaryFile(".mp4")
        let samples = try SampleStream.make(count: 1)
        let writer = try MovieWriter(path: file.path, video: samples[0].format)
        #expect(!file.contents.isEmpty)
        try writer.append(samples[0])
        try writer.finish()
        #expect(try readableFrames(of: file) == 1)
    }
}
