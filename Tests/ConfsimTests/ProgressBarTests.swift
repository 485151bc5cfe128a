import Testing

@testable import confsim

@Suite("The progress bar")
struct ProgressBarTests {
    @Test("half of the work in a minute leaves another minute")
    func timeLeft() {
        let line = ProgressBar.line(part: 0.5, done: 3, of: 10, elapsed: 60)
        #expect(line == "[###############...............] 50 %  3 of 10 runs  1 min 0 s left")
    }

    @Test("the first moments and the end tell no time left")
    func noTimeLeft() {
        #expect(!ProgressBar.line(part: 0.001, done: 1, of: 900, elapsed: 5).contains("left"))
        #expect(!ProgressBar.line(part: 1, done: 9, of: 9, elapsed: 50).contains("left"))
        #expect(ProgressBar.line(part: 7, done: 9, of: 9, elapsed: 50).contains("100 %"))
    }

    @Test(
        "durations are told in the units that people use",
        arguments: [(0.2, "1 s"), (61, "1 min 1 s"), (7300, "2 h 1 min")])
    func durations(seconds: Double, text: String) {
        #expect(ProgressBar.duration(seconds) == text)
    }
}
