import Foundation

/// A progress bar in one line of a terminal: the finished part of a long run and the estimated time that is left.
struct ProgressBar {
    /// The total amount of work, in any unit; `count` is the number of parts.
    let total: Double
    let count: Int
    private var done = 0.0
    private var doneCount = 0
    private let start: ContinuousClock.Instant?
    private var shown: ContinuousClock.Instant?

    /// Creates a bar on standard error. If standard error is no terminal, nothing is shown.
    init(total: Double, count: Int) {
        self.total = total
        self.count = count
        start = isatty(STDERR_FILENO) != 0 ? ContinuousClock.now : nil
    }

    /// Counts a finished part.
    mutating func advance(by amount: Double) {
        done += amount
        doneCount += 1
        guard let start else { return }
        let now = ContinuousClock.now
        if let shown, now - shown < .milliseconds(100), doneCount < count { return }
        shown = now
        let line = Self.line(
            part: total > 0 ? done / total : 1, done: doneCount, of: count, elapsed: (now - start) / .seconds(1))
        try? FileHandle.standardError.write(contentsOf: Data("\r\(line)\u{1B}[K".utf8))
    }

    /// Removes the bar.
    func finish() {
        guard start != nil else { return }
        try? FileHandle.standardError.write(contentsOf: Data("\r\u{1B}[K".utf8))
    }

    static func line(part: Double, done: Int, of count: Int, elapsed: Double) -> String {
        let part = min(max(part, 0), 1)
        let width = 30
        let filled = Int(part * Double(width))
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
        var line = "[\(bar)] \(Int(part * 100)) %  \(done) of \(count) runs"
        // The first moments give no useful estimate.
        if part > 0.01, elapsed > 1, done < count { line += "  \(duration(elapsed / part - elapsed)) left" }
        return line
    }

    static func duration(_ seconds: Double) -> String {
        let whole = Int(min(max(seconds, 0), 1e6).rounded(.up))
        if whole >= 3600 { return "\(whole / 3600) h \(whole % 3600 / 60) min" }
        return whole >= 60 ? "\(whole / 60) min \(whole % 60) s" : "\(whole) s"
    }
}
