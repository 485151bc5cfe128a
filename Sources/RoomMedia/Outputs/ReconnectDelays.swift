/// The times between tries to connect: they double while tries fail, up to a bound. A part of each is random, so that
/// outputs that failed together do not come back together.
package struct ReconnectDelays: Sendable {
    /// A connection that lasted for so long was a good one.
    static let goodConnection = Duration.seconds(10)
    /// The random part, of the whole.
    private static let spread = 0.2

    private let first: Duration
    private let longest: Duration
    private var failures = 0

    init(first: Duration = .seconds(1), longest: Duration = .seconds(30)) {
        self.first = first
        self.longest = longest
    }

    /// Takes a failure, and returns the time until the next try.
    ///
    /// - Parameters:
    ///   - lasted: How long the connection was live; zero if it never was.
    ///   - random: From 0 to 1.
    mutating func next(after lasted: Duration, random: Double) -> Duration {
        if lasted >= Self.goodConnection { failures = 0 }
        let whole = min(first * (1 << min(failures, 10)), longest)
        failures += 1
        return whole * (1 - Self.spread * min(max(random, 0), 1))
    }
}
