import MediaCore

extension ClientReport.RelayDelay {
    /// Makes the relay's part of a measured delay from the relay's ledger.
    ///
    /// - Parameter measured: The mean of the delays from end to end.
    /// - Returns: nil if the relay counted nothing.
    init?(_ ledger: [RoomReport.Latency], measured: Duration) {
        guard let total = ledger.first(where: { $0.stage == "total" }), total.count > 0 else { return nil }
        let stages = ledger.prefix { $0.stage != "total" }
        let sum = stages.reduce(0) { $0 + $1.meanMilliseconds }
        meanSeconds = Self.seconds(total.meanMilliseconds)
        p95Seconds = Self.seconds(total.p95Milliseconds)
        self.stages = stages.map { .init(stage: $0.stage, meanSeconds: Self.seconds($0.meanMilliseconds)) }
        elsewhereSeconds = Self.seconds(measured.milliseconds - total.meanMilliseconds)
        addsUp =
            abs(sum - total.meanMilliseconds) < Self.tolerance
            && total.meanMilliseconds <= measured.milliseconds + Self.tolerance
    }

    /// Counters and ledgers are in whole milliseconds, or nearly.
    private static let tolerance = 1.0

    /// Converts to seconds, rounded to a tenth of a millisecond.
    private static func seconds(_ milliseconds: Double) -> Double { (milliseconds * 10).rounded() / 10_000 }
}
