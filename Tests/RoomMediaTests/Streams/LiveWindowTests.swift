import Foundation
import MediaCore
import NIOCore
import Testing

@testable import RoomMedia

/// The segments of a live stream, and its playlist.
@Suite struct LiveWindowTests {
    private static let origin = Date(timeIntervalSince1970: 1_800_000_000)

    private func part(_ index: Int, size: Int = 1000, seconds: Double = 1.0 / 3) -> LiveWindow.Part {
        LiveWindow.Part(
            bytes: ByteBuffer(repeating: UInt8(index), count: size), duration: .seconds(seconds),
            isIndependent: index == 0)
    }

    /// A window after so many segments of six parts, and some parts more.
    private func window(segments: Int, parts: Int, size: Int = 1000) -> LiveWindow {
        var window = LiveWindow()
        window.setInitialization(ByteBuffer(string: "first"))
        for number in 0...segments {
            window.beginSegment(at: Self.origin.addingTimeInterval(Double(number) * 2))
            for index in 0..<(number < segments ? 6 : parts) { window.append(part(index, size: size)) }
        }
        return window
    }

    @Test("the playlist tells segments, the last ones also in parts, and what comes next")
    func text() {
        let window = window(segments: 4, parts: 2)
        let expected = """
            #EXTM3U
            #EXT-X-VERSION:9
            #EXT-X-TARGETDURATION:3
            #EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=1.002000
            #EXT-X-PART-INF:PART-TARGET=0.334000
            #EXT-X-MEDIA-SEQUENCE:1
            #EXT-X-MAP:URI="init-1.mp4"
            #EXT-X-PROGRAM-DATE-TIME:2027-01-15T08:00:00.000Z
            #EXTINF:2.000000,
            segment-1.m4s
            #EXT-X-PROGRAM-DATE-TIME:2027-01-15T08:00:02.000Z
            #EXT-X-PART:DURATION=0.333333,URI="part-2-0.m4s",INDEPENDENT=YES
            """
        let text = window.playlist
        #expect(text.hasPrefix(expected), "\(text)")
        #expect(
            text.hasSuffix(
                """
                #EXT-X-PROGRAM-DATE-TIME:2027-01-15T08:00:08.000Z
                #EXT-X-PART:DURATION=0.333333,URI="part-5-0.m4s",INDEPENDENT=YES
                #EXT-X-PART:DURATION=0.333333,URI="part-5-1.m4s"
                #EXT-X-PRELOAD-HINT:TYPE=PART,URI="part-5-2.m4s"

                """), "\(text)")
    }

    @Test("old segments go, and numbers and memory stay true to what is left")
    func slides() {
        let limits = LiveWindow.Limits()
        let window = window(segments: 100, parts: 1)
        #expect(window.playlist.contains("#EXT-X-MEDIA-SEQUENCE:94\n"))
        #expect(window.segment(93) == nil && window.segment(94) != nil && window.segment(101) == nil)
        #expect(window.part(.init(segment: 93, part: 0)) == nil)
        #expect(window.size.bytes == limits.segments * 6000 + 1000)
    }

    @Test("a stream of large pictures keeps fewer segments")
    func bytes() {
        let window = window(segments: 20, parts: 1, size: 2 << 20)
        #expect(window.size <= LiveWindow.Limits().size)
        #expect(window.segment(20) != nil && window.segment(18) == nil)
    }

    @Test(
        "another format has an initialization of its own behind a discontinuity, and the old one goes with its segments"
    )
    func formats() {
        var window = window(segments: 2, parts: 6)
        window.setInitialization(ByteBuffer(string: "second"))
        window.beginSegment(at: Self.origin)
        window.append(part(0))
        #expect(
            window.playlist.contains(
                "segment-3.m4s\n#EXT-X-DISCONTINUITY\n#EXT-X-MAP:URI=\"init-2.mp4\"\n#EXT-X-PROGRAM-DATE-TIME"))
        #expect(window.initialization(1) == ByteBuffer(string: "first"))
        for _ in 0..<10 {
            window.beginSegment(at: Self.origin)
            window.append(part(0))
        }
        #expect(window.playlist.contains("#EXT-X-DISCONTINUITY-SEQUENCE:1\n"))
        #expect(window.initialization(1) == nil && window.initialization(2) == ByteBuffer(string: "second"))
    }

    @Test("a segment keeps its discontinuity number while the window slides over it")
    func discontinuityNumbers() {
        var window = LiveWindow()
        window.setInitialization(ByteBuffer(string: "first"))
        var known: [String: Int] = [:]
        for number in 0..<40 {
            if number % 5 == 3 { window.setInitialization(ByteBuffer(string: "\(number)")) }
            window.beginSegment(at: Self.origin, isGap: number % 7 == 2)
            window.append(part(0))
            var sequence = 0
            for line in window.playlist.split(separator: "\n").map(String.init) {
                if line.hasPrefix("#EXT-X-DISCONTINUITY-SEQUENCE:") {
                    sequence = Int(line.drop { $0 != ":" }.dropFirst()) ?? -1
                } else if line == "#EXT-X-DISCONTINUITY" {
                    sequence += 1
                } else if !line.hasPrefix("#") {
                    #expect(known[line, default: sequence] == sequence, "\(line) in \(window.playlist)")
                    known[line] = sequence
                }
            }
        }
        #expect(known.count == 39 && known["segment-39.m4s"] == 13)
    }

    @Test("a segment has the bytes of its parts")
    func segment() {
        let window = window(segments: 1, parts: 0)
        let bytes = window.segment(1)
        #expect(bytes?.readableBytes == 6000)
        #expect(bytes?.getSlice(at: 1000, length: 1000) == window.part(.init(segment: 1, part: 1))?.bytes)
    }

    @Test("an ended stream has all its segments, and tells that none follow")
    func ended() {
        var window = window(segments: 2, parts: 3)
        window.end()
        #expect(window.playlist.hasSuffix("#EXTINF:1.000000,\nsegment-3.m4s\n#EXT-X-ENDLIST\n"))
        #expect(window.segment(3)?.readableBytes == 3000)
        window.append(part(0))
        #expect(window.segment(3)?.readableBytes == 3000)
    }

    @Test(
        "a file's name says what it is, and others are none",
        arguments: [
            ("index.m3u8", LiveFile.index), ("live.m3u8", .playlist), ("init-2.mp4", .initialization(2)),
            ("segment-17.m4s", .segment(17)), ("part-17-3.m4s", .part(.init(segment: 17, part: 3))), ("", nil),
            ("part-17.m4s", nil), ("segment-.m4s", nil), ("segment--1.m4s", nil), ("init-1.m4s", nil),
            ("segment-1.mp4", nil), ("segment-99999999999999999999.m4s", nil), ("part-1-2-3.m4s", nil), (".m4s", nil),
            ("../recording.json", nil), ("segment-+1.m4s", nil),
        ])
    func names(_ name: String, _ file: LiveFile?) {
        #expect(LiveFile(name: name[...]) == file)
        if let file { #expect(file.name == name) }
    }
}
