import Foundation
import MediaCore
import NIOCore
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

    private final class Collected: MovieFile {
        var bytes: [UInt8] = []

        func append(_ bytes: ByteBuffer) { self.bytes += bytes.readableBytesView }
    }

    /// A movie of 24 frames or packets with six in each fragment, and where the data of each fragment lies.
    private func fragments(ofVideo isVideo: Bool) throws -> (bytes: [UInt8], data: [Range<Int>]) {
        let samples = try SampleStream.make(count: 24)
        let file = Collected()
        let writer = try MovieWriter(
            to: file, name: "movie", video: isVideo ? samples[0].format : nil, hasAudio: !isVideo,
            fragment: .milliseconds(isVideo ? 200 : 120))
        for (index, sample) in samples.enumerated() {
            if isVideo {
                try writer.append(sample)
            } else {
                let time = MediaTime(value: Int64(index) * 960, timescale: 48_000)
                let packet = ByteBuffer(bytes: [0xF8] + Array(repeating: 7, count: 60))
                try writer.append(opus: packet, presentationTime: time)
            }
        }
        try writer.finish()
        var (data, place): ([Range<Int>], Int) = ([], 0)
        while place + 8 <= file.bytes.count {
            let end = place + file.bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
            if file.bytes[place + 4..<place + 8].elementsEqual("mdat".utf8) { data.append(place..<end) }
            place = end
        }
        return (file.bytes, data)
    }

    @Test(
        "have all whole fragments, wherever they are cut off or zeros begin", arguments: [true, false], [0, 4096])
    func cut(isVideo: Bool, zeros: Int) throws {
        let (bytes, data) = try fragments(ofVideo: isVideo)
        try #require(data.count == 4)
        for cut in data[0].upperBound..<data[2].upperBound {
            let copy = TemporaryFile(".mp4", contents: bytes[..<cut] + Array(repeating: 0, count: zeros))
            var count = 0
            if isVideo {
                let reader = try MovieReader(path: copy.path)
                while (try? reader.nextSample()) != nil { count += 1 }
            } else {
                let reader = try OpusReader(path: copy.path)
                while try reader.nextPacket() != nil { count += 1 }
            }
            #expect(count >= 6 * data.count { $0.upperBound <= cut }, "at byte \(cut)")
        }
    }

    @Test("are played as far as their whole fragments go, wherever they are cut off", arguments: [true, false])
    func cutAndPlayed(isVideo: Bool) throws {
        let (bytes, data) = try fragments(ofVideo: isVideo)
        for cut in data[0].upperBound..<data[1].upperBound {
            let copy = TemporaryFile(".mp4", contents: Array(bytes[..<cut]))
            let source = MediaSource(url: "file:\(copy.path)", protocols: "file")
            let input = try MediaInput(source) { false }
            #expect(input.isSeekable, "at byte \(cut)")
            var count = 0
            while (try? input.next()) != nil { count += 1 }
            #expect(count >= 6, "at byte \(cut)")
        }
    }
}
