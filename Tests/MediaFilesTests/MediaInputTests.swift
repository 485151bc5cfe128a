import Foundation
import Glibc
import H264Fixtures
import MediaCore
import NIOCore
import Synchronization
import Testing

@testable import MediaFiles

/// Films of any kind, read and decoded as players do.
@Suite struct MediaInputTests {
    /// Three seconds at 25 pictures a second, whose luma rises by one with each, and silence.
    ///
    /// - Parameter start: The seconds before the first picture.
    private static func film(_ layout: MovieWriter.Layout = .indexAtEnd, start: Int64 = 0) throws -> TemporaryFile {
        let file = TemporaryFile(".mp4")
        var stream = try RawPictureStream()
        var samples: [SampleBuffer] = []
        for index in 0..<75 {
            let place = index % 25
            var sample = stream.frame(UInt8(20 + index), order: UInt32(2 * place), isIDR: place == 0)
            sample.presentationTime = MediaTime(value: start * 25 + Int64(index), timescale: 25)
            sample.isSync = place == 0
            samples.append(sample)
        }
        let writer = try MovieWriter(
            path: file.path, video: samples[0].format, audio: MovieWriter.OpusTrack(preSkip: 0), layout: layout)
        for (index, sample) in samples.enumerated() {
            try writer.append(sample)
            for part in 0..<2 {
                try writer.append(
                    opus: ByteBuffer(bytes: [0xF8, 0xFF, 0xFE]),
                    presentationTime: MediaTime(value: start * 50 + Int64(index * 2 + part), timescale: 50))
            }
        }
        try writer.finish()
        return file
    }

    private struct Decoded {
        var lumas: [UInt8] = []
        var pictureTimes: [Duration] = []
        var pictureDuration: Duration?
        var audioSamples = 0
        var audioTimes: [Duration] = []
    }

    /// Reads until the end, or until a number of pictures have come.
    private func read(_ input: MediaInput, upTo limit: Int = .max) throws -> Decoded {
        var decoded = Decoded()
        let video = try input.video.map { try MediaDecoder($0) }
        let audio = try input.audio.map { try MediaDecoder($0) }
        func take(_ output: MediaDecoder.Output) {
            switch output {
            case .picture(let picture, let time):
                decoded.lumas.append(picture.withPlane(0) { bytes, _ in bytes[0] })
                decoded.pictureTimes.append(time ?? .zero)
            case .audio(let samples, let time):
                decoded.audioSamples += samples.count
                decoded.audioTimes.append(time ?? .zero)
            }
        }
        while decoded.lumas.count < limit, let packet = try input.next() {
            (packet.isVideo ? video : audio)?.decode(packet, take)
        }
        decoded.pictureDuration = video?.pictureDuration
        guard limit == .max else { return decoded }
        video?.decode(nil, take)
        audio?.decode(nil, take)
        return decoded
    }

    private func open(_ path: String, opener: (any MediaOpener)? = nil) throws -> MediaInput {
        let source =
            opener.map { MediaSource(url: path, opener: $0) } ?? MediaSource(url: "file:\(path)", protocols: "file")
        return try MediaInput(source) { false }
    }

    @Test("every picture and all audio come, with their times")
    func whole() throws {
        let file = try Self.film()
        let input = try open(file.path)
        #expect(input.isSeekable && abs((input.duration ?? .zero) / .seconds(1) - 3) < 0.1)
        let decoded = try read(input)
        #expect(decoded.lumas == (20..<95).map { UInt8($0) })
        #expect(decoded.pictureTimes == (0..<75).map { .milliseconds(40) * $0 })
        #expect(decoded.audioSamples == 150 * 960)
        for (index, time) in decoded.audioTimes.enumerated() {
            #expect(abs((time - .milliseconds(20) * index) / .milliseconds(1)) < 1)
        }
    }

    @Test("nothing that a film crops is shown", arguments: [[5, 1, 3, 4], [0, 4, 0, 4], [15, 0, 15, 0]])
    func cropped(offsets: [Int]) throws {
        let file = TemporaryFile(".mp4")
        var stream = try RawPictureStream(cropping: offsets)
        try SampleStream.write([stream.frame(20, order: 0, isIDR: true)], to: file.path)
        let input = try open(file.path)
        let decoder = try MediaDecoder(#require(input.video))
        var shown: [VideoDimensions] = []
        func take(_ output: MediaDecoder.Output) {
            if case .picture(let picture, _) = output { shown.append(picture.dimensions) }
        }
        decoder.decode(try input.next(), take)
        decoder.decode(nil, take)
        let size = RawPictureStream.dimensions
        #expect(
            shown == [
                VideoDimensions(
                    width: size.width - 2 * (offsets[0] + offsets[1]),
                    height: size.height - 2 * (offsets[2] + offsets[3]))
            ])
    }

    @Test("an MP4 film that begins with an empty edit is as long as it can be seen")
    func emptyEdit() throws {
        let file = try Self.film(start: 10)
        let input = try open(file.path)
        #expect(abs((input.duration ?? .zero) / .seconds(1) - 3) < 0.1)
        #expect(abs((try MovieReader(path: file.path).duration ?? .zero) / .seconds(1) - 3) < 0.1)
        #expect(try read(input, upTo: 3).pictureTimes == (0..<3).map { .milliseconds(40) * $0 })
    }

    @Test("a fragmented film whose times begin later than at zero is as long as it can be seen", arguments: [0, 5])
    func lateFragments(audioLateness: Int64) throws {
        let samples = try SampleStream.make(count: 300)
        let writer = try FragmentWriter(video: samples[0].format, audio: AACEncoder().configuration)
        var bytes = writer.initialization
        for sample in samples {
            var sample = sample
            sample.presentationTime = sample.presentationTime + MediaTime(value: 100, timescale: 1)
            sample.decodeTime = sample.presentationTime
            if sample.isSync { bytes.writeImmutableBuffer(try writer.endFragment()) }
            try writer.append(sample, duration: MediaTime(value: 1, timescale: 30))
        }
        let time = MediaTime(value: 100 + audioLateness, timescale: 1)
        try writer.append(AACEncoder.Packet(data: ByteBuffer(repeating: 0, count: 8), time: time))
        bytes.writeImmutableBuffer(try writer.endFragment())
        let file = TemporaryFile(".mp4", contents: Array(bytes.readableBytesView))
        #expect(abs((try open(file.path).duration ?? .zero) / .seconds(1) - 10) < 0.1)
        #expect(abs((try MovieReader(path: file.path).duration ?? .zero) / .seconds(1) - 10) < 0.1)
    }

    @Test("a seek leads to the keyframe before its place")
    func seek() throws {
        let file = try Self.film()
        let input = try open(file.path)
        #expect(try read(input, upTo: 5).pictureDuration == .milliseconds(40))
        try input.seek(to: .milliseconds(2500))
        let decoded = try read(input)
        #expect(decoded.pictureTimes.first == .seconds(2) && decoded.lumas.count == 25)
        try input.seek(to: .zero)
        #expect(try read(input, upTo: 1).lumas == [20])
    }

    @Test("a seek leads to a keyframe where the file does not tell where they are", arguments: [0, 1000, 2500])
    func seekWithoutIndex(place: Int64) throws {
        let file = TemporaryFile(".ts")
        let destination = StreamDestination(url: "file:\(file.path)", container: .mpegTS, name: "file")
        var stream = try RawPictureStream()
        var writer: StreamWriter?
        for index in 0..<75 {
            var sample = stream.frame(UInt8(20 + index), order: UInt32(2 * (index % 25)), isIDR: index % 25 == 0)
            // Pictures are decoded before they are shown, as where frames are reordered.
            sample.presentationTime = MediaTime(value: Int64(index + 2), timescale: 25)
            sample.decodeTime = MediaTime(value: Int64(index), timescale: 25)
            sample.isSync = index % 25 == 0
            if writer == nil {
                writer = try StreamWriter(
                    on: StreamWriter.Connection(to: destination) { false }, video: sample.format,
                    audio: AACEncoder().configuration)
            }
            try writer?.append(sample)
        }
        try writer?.finish()
        let input = try open(file.path)
        _ = try input.next()
        try input.seek(to: .milliseconds(place))
        let next = try input.next()
        let packet = try #require(next)
        let time = try #require(packet.time)
        let expected = Duration.seconds(place / 1000) - .milliseconds(80)
        #expect(packet.isKeyframe && packet.isVideo)
        #expect(abs((time - expected) / .milliseconds(1)) < 1)
    }

    /// Hands out bytes of memory, and remembers which URLs were asked for.
    private final class Memory: MediaOpener {
        private final class Bytes: MediaBytes {
            let contents: [UInt8]
            let location: String?

            init(_ contents: [UInt8], location: String) {
                self.contents = contents
                self.location = location
            }

            var count: Int64? { Int64(contents.count) }

            func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
                let part = contents.dropFirst(Int(offset)).prefix(buffer.count)
                buffer.copyBytes(from: part)
                return part.count
            }
        }

        let files: [String: [UInt8]]
        /// The redirections.
        let moved: [String: String]
        let asked = Mutex<[String]>([])

        init(_ files: [String: [UInt8]], moved: [String: String] = [:]) {
            self.files = files
            self.moved = moved
        }

        func open(_ url: String) throws(StreamFailure) -> any MediaBytes {
            asked.withLock { $0.append(url) }
            let place = moved[url] ?? url
            guard let contents = files[place] else { throw .refused }
            return Bytes(contents, location: place)
        }
    }

    private static func playlist(_ segments: [String], range: String? = nil) -> [UInt8] {
        let range = range.map { ["#EXT-X-BYTERANGE:\($0)"] } ?? []
        let lines =
            ["#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:3", "#EXT-X-PLAYLIST-TYPE:VOD"]
            + segments.flatMap { ["#EXTINF:3.0,"] + range + [$0] } + ["#EXT-X-ENDLIST", ""]
        return Array(lines.joined(separator: "\n").utf8)
    }

    @Test("a playlist's segments are opened by the opener alone")
    func playlist() throws {
        let file = try Self.film(.fragmented(every: .seconds(1)))
        let film = try Data(contentsOf: URL(fileURLWithPath: file.path))
        let opener = Memory([
            "http://films.example/a.m3u8": Self.playlist(["segment.mp4"]),
            "http://films.example/segment.mp4": Array(film),
        ])
        let decoded = try read(try open("http://films.example/a.m3u8", opener: opener))
        #expect(decoded.lumas == (20..<95).map { UInt8($0) })
        #expect(Set(opener.asked.withLock { $0 }) == Set(opener.files.keys))
    }

    @Test("the segments of a playlist are where a redirection has led to it")
    func redirection() throws {
        let file = try Self.film(.fragmented(every: .seconds(1)))
        let opener = Memory(
            [
                "http://edge.example/b/a.m3u8": Self.playlist(["segment.mp4"]),
                "http://edge.example/b/segment.mp4": Array(try Data(contentsOf: URL(fileURLWithPath: file.path))),
            ], moved: ["http://films.example/a.m3u8": "http://edge.example/b/a.m3u8"])
        let decoded = try read(try open("http://films.example/a.m3u8", opener: opener))
        #expect(decoded.lumas == (20..<95).map { UInt8($0) })
    }

    @Test("a playlist's segment may be a part of a file")
    func byteRange() throws {
        let file = try Self.film(.fragmented(every: .seconds(1)))
        let film = Array(try Data(contentsOf: URL(fileURLWithPath: file.path)))
        let padding = [UInt8](repeating: 0xA5, count: 1000)
        let opener = Memory([
            "http://films.example/a.m3u8": Self.playlist(["all.mp4"], range: "\(film.count)@1000"),
            "http://films.example/all.mp4": padding + film + padding,
        ])
        let decoded = try read(try open("http://films.example/a.m3u8", opener: opener))
        #expect(decoded.lumas == (20..<95).map { UInt8($0) })
    }

    @Test(
        "what a playlist names is opened by no protocol of libavformat's own",
        arguments: [
            "file:///etc/passwd", "/etc/passwd", "concat:a|b", "tcp://127.0.0.1:9/a.ts", "http://10.0.0.1/a.ts",
        ])
    func foreign(segment: String) throws {
        let opener = Memory(["http://films.example/a.m3u8": Self.playlist([segment])])
        #expect(throws: StreamFailure.self) { try read(try open("http://films.example/a.m3u8", opener: opener)) }
        #expect(opener.asked.withLock { $0 }.allSatisfy { $0.hasPrefix("http:") })
    }

    @Test("a file that names others is not followed")
    func files() throws {
        let film = try Self.film(.fragmented(every: .seconds(1)))
        let list = TemporaryFile(".m3u8", contents: Self.playlist(["file://\(film.path)"]))
        #expect(throws: StreamFailure.self) { try read(try open(list.path)) }
        let script = TemporaryFile(".ffconcat", contents: Array("ffconcat version 1.0\nfile \(film.path)\n".utf8))
        #expect(throws: StreamFailure.self) { try read(try open(script.path)) }
    }

    /// Ten pictures of 40 ms, the first at two hours.
    ///
    /// Made by ffmpeg: `-itsoffset 7200 -i grey.mp4 -copyts -c copy late.mkv`.
    private static let late = [
        "GkXfo6NChoEBQveBAULygQRC84EIQoKIbWF0cm9za2FCh4EEQoWBAhhTgGcBAAAAAAACqhFNm3TAv4S1raK1TbuLU6uEFUmpZlOsgaFNu4",
        "tTq4QWVK5rU6yB8U27jFOrhBJUw2dTrIIBeE27jFOrhBxTu2tTrIICjOwBAAAAAAAAUwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAFUmpZsu/hKQWbN8q17GDD0JATYCNTGF2Zj",
        "U5LjI3LjEwMFdBjUxhdmY1OS4yNy4xMDBzpJDBTwI8O6PtI/sAkL1huAd7RImIQVt3pAAAAAAWVK5rQIG/hOIqAqGuAQAAAAAAAHLXgQFz",
        "xYgfKeAo5xvj5ZyBACK1nIN1bmSGj1ZfTVBFRzQvSVNPL0FWQ4OBASPjg4QCYloA4JSwgSC6gSCagQJVsIhVt4EBVbiBAmOipQFCwAr/4Q",
        "AVZ0LACtkJbARAAAADAEAAAAyDxImSAQAFaMuDyyASVMNn37+En7XJmHNzoGPAgGfImkWjh0VOQ09ERVJEh41MYXZmNTkuMjcuMTAwc3Oz",
        "Y8CLY8WIHyngKOcb4+VnyKJFo4hEVVJBVElPTkSHlDAyOjAwOjAwLjQwMDAwMDAwMAAAH0O2dUCqv4TViprG54Nt3QCjlIEAAIAAAAAMZY",
        "iEDPJigAG5OuvAo46BACgAAAAABkGaOBnlgKOOgQBQAAAAAAZBmlQGeWCjjYEAeAAAAAAFQZpgM8ujjYEAoAAAAAAFQZqAM8ujjYEAyAAA",
        "AAAFQZqgM8ujjYEA8AAAAAAFQZrAM8ujjYEBGAAAAAAFQZrgL8ujjYEBQAAAAAAFQZsAL8ujjYEBaAAAAAAFQZsgK8scU7trmb+ELDzgor",
        "uRs4Nt3QC3iveBAfGCAdzwgQs=",
    ].joined()

    @Test("a Matroska film whose times begin at hours is as long as it can be seen")
    func lateBeginning() throws {
        let file = TemporaryFile(".mkv", contents: Array(try #require(Data(base64Encoded: Self.late))))
        #expect(try open(file.path).duration == .milliseconds(400))
        #expect(try MovieReader(path: file.path).duration == .milliseconds(400))
    }

    /// 0.9 s of silence, the first at ten seconds.
    ///
    /// Made by ffmpeg: `-itsoffset 10 -i silence.ogg -copyts -c copy -page_duration 300000 late.ogg`.
    private static let lateOgg = [
        "T2dnUwACAAAAAAAAAAAAAAAAAAAAAAIotXIBE09wdXNIZWFkAQE4AYC7AAAAAABPZ2dTAAAAAAAAAAAAAAAAAAABAAAA88vQ2wEW",
        "T3B1c1RhZ3MGAAAAZmZtcGVnAAAAAE9nZ1MAAICWBwAAAAAAAAAAAAIAAAAUsRtYAx0bGxoOAvmOyOHPlL6XHvqCbrACKyzDjNgL",
        "1wW2vRDSGQIrLMOM2AvXBba9ENICKyzDjNgL1wW2vRDSGQIrLMOM2AvXBba9ENICKyzDjNgL1wW2vRDST2dnUwAAANoHAAAAAAAA",
        "AAAAAwAAALr238MDGxsbGQIrLMOM2AvXBba9ENICKyzDjNgL1wW2vRDSGQIrLMOM2AvXBba9ENICKyzDjNgL1wW2vRDSGQIrLMOM",
        "2AvXBba9ENICKyzDjNgL1wW2vRDST2dnUwAE+PwHAAAAAAAAAAAABAAAAMALpLYCGxsZAissw4zYC9cFtr0Q0gIrLMOM2AvXBba9",
        "ENIZAissw4zYC9cFtr0Q0gIrLMOM2AvXBba9ENI=",
    ].joined()

    @Test("Opus in Ogg whose times begin later than at zero is as long as it can be heard")
    func lateOpus() throws {
        let file = TemporaryFile(".ogg", contents: Array(try #require(Data(base64Encoded: Self.lateOgg))))
        #expect(abs((try open(file.path).duration ?? .zero) / .seconds(1) - 0.9) < 0.02)
    }

    /// 0.9 s of silence, the first at ten seconds, in pages of about 0.4 s.
    ///
    /// Made by ffmpeg: `-itsoffset 10 -i silence.flac -copyts -c copy -page_duration 300000 late.ogg`.
    private static let lateOggFLAC = [
        "T2dnUwACAAAAAAAAAAAAAAAAAAAAAG+y+QIBM39GTEFDAQAAAWZMYUMAAAAiEgASAAAACwAADQu4APAAAKjA8HXAk04BWVQe8WS13p5f",
        "x09nZ1MAAAAAAAAAAAAAAAAAAAEAAACt7QqoARKEAAAOBgAAAGZmbXBlZwAAAABPZ2dTAAAAmwcAAAAAAAAAAAACAAAAk8ZdAQQLCwsL",
        "//haCACBAAAAK4j/+FoIAYYAAABH8P/4WggCjwAAAPN4//haCAOIAAAAnwBPZ2dTAAAA4wcAAAAAAAAAAAADAAAA0crMCQQLCwsL//ha",
        "CASdAAAAGm3/+FoIBZoAAAB2Ff/4WggGkwAAAMKd//haCAeUAAAAruVPZ2dTAATA+wcAAAAAAAAAAAAEAAAAb3UlmAILDf/4WggIuQAA",
        "AEhC//h6CAkGv7cAAABOMw==",
    ].joined()

    @Test("FLAC in Ogg whose times begin later than at zero is as long as it can be heard, without a gap")
    func lateFLAC() throws {
        let file = TemporaryFile(".ogg", contents: Array(try #require(Data(base64Encoded: Self.lateOggFLAC))))
        let input = try open(file.path)
        #expect(input.duration == .milliseconds(900))
        let times = (0..<10).map { Duration.milliseconds(96) * $0 }
        #expect(try read(input).audioTimes == times)
        try input.seek(to: .milliseconds(100))
        #expect(try read(input).audioTimes == times)
    }

    @Test("what is no film is an error, and what is not there another")
    func noFilm() throws {
        let text = TemporaryFile(".mp4", contents: Array("This is not a film.".utf8))
        #expect(throws: StreamFailure.self) { try open(text.path) }
        #expect(throws: StreamFailure.self) { try open("/nonexistent/film.mp4") }
    }

    @Test("damaged films end sooner or later, whatever is in them", arguments: 0..<60)
    func damaged(seed: UInt64) throws {
        let file = try Self.film(seed % 2 == 0 ? .indexAtEnd : .fragmented(every: .seconds(1)))
        var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: file.path)))
        var random = SeededGenerator(seed: seed)
        if seed % 5 == 0 {
            bytes.removeLast(Int.random(in: 1..<bytes.count, using: &random))
        } else {
            for _ in 0..<Int.random(in: 1...40, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = .random(in: 0...255, using: &random)
            }
        }
        let broken = TemporaryFile(".mp4", contents: bytes)
        // It may be refused, or decode to less.
        if let input = try? open(broken.path), let decoded = try? read(input) {
            #expect(decoded.lumas.count <= 300)
        }
    }

    @Test("places that no file has are refused, and sums of them do not overflow")
    func places() {
        final class Endless: MediaBytes {
            var count: Int64? { .max }

            func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
                #expect(offset <= MediaBytesReader.largestPlace * 2)
                return buffer.count
            }
        }
        let place = MediaBytesReader.largestPlace
        let reading = MediaBytesReader.Reading(Endless(), part: place..<Int64.max)
        for target in [Int64.max - 5, place + 1, -1] { #expect(reading.seek(target, SEEK_SET) < 0) }
        #expect(reading.seek(place, SEEK_SET) == place && reading.seek(.max, SEEK_CUR) < 0)
        var bytes = [UInt8](repeating: 0, count: 64)
        #expect(bytes.withUnsafeMutableBufferPointer { $0.baseAddress.map { reading.read($0, 64) } } == 64)
    }
}
