/// One histogram for each stage.
struct LatencyHistograms: Sendable {
    private var histograms = [LatencyHistogram](repeating: LatencyHistogram(), count: LatencyStage.allCases.count)

    subscript(stage: LatencyStage) -> LatencyHistogram {
        _read { yield histograms[stage.rawValue] }
        _modify { yield &histograms[stage.rawValue] }
    }
}
