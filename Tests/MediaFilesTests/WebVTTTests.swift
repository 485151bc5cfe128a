import MediaFiles
import Testing

@Suite("WebVTT files") struct WebVTTTests {
    @Test("have the cues in the order of their beginnings, with times to the millisecond")
    func order() {
        let file = WebVTT.file([
            WebVTTCue(start: 3725.0305, end: 3730, voice: "Ben", text: "Ben speaks"),
            WebVTTCue(start: 0, end: 4, text: "Ada joins"),
        ])
        #expect(
            file == """
                WEBVTT

                00:00:00.000 --> 00:00:04.000
                Ada joins

                01:02:05.031 --> 01:02:10.000
                <v Ben>Ben speaks

                """)
    }

    @Test(
        "are not broken by names",
        arguments: [
            "a\n\n00:00 --> x", "<b>", "a --> b", "&lt;", "x\r\ny", "<\u{338}b>\u{338}", "a -->\u{301} b",
        ])
    func hostileNames(name: String) {
        let file = WebVTT.file([WebVTTCue(start: 1, end: 2, voice: name, text: name)])
        let lines = file.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 5)
        #expect(lines.filter { $0.utf8.contains("-->".utf8) } == ["00:00:01.000 --> 00:00:02.000"])
        #expect(!lines[3].dropFirst(3).unicodeScalars.contains("<"))
        #expect(file.unicodeScalars.count { $0 == ">" } == 2)
    }
}
