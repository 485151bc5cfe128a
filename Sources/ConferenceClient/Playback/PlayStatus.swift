public import MediaCore

/// The progress of playing.
public struct PlayStatus: Sendable {
    /// The file's time.
    public var time: Duration
    /// The duration of the file, if it is known and the file does not start again.
    public var fileDuration: Duration?
    public var elapsed: Duration
    public var dimensions: VideoDimensions
    public var framesShown: Int
    /// Frames not shown because they were late.
    public var framesLate: Int
    public var framesWritten: Int?

    /// A line for people to read.
    public var line: String {
        let end = fileDuration.map { " of \(Self.tenths($0.seconds)) s" } ?? " s"
        let speed = elapsed > .zero ? Double(framesShown) / elapsed.seconds : 0
        let written = framesWritten.map { " | \($0) written" } ?? ""
        return "\(Self.tenths(time.seconds))\(end) | \(Self.tenths(speed)) fps \(dimensions) | \(framesShown) shown"
            + " | \(framesLate) late\(written)"
    }

    private static func tenths(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
}
