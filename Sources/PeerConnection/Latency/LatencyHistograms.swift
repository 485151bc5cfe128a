/// One histogram for each stage.
package struct LatencyHistograms: Sendable {
    private var histograms = [LatencyHistogram](repeating: LatencyHistogram(), count: LatencyStage.allCases.count)

    package init() {}

    package subscript(stage: LatencyStage) -> LatencyHistogram {
        _read { yield histograms[stage.rawValue] }
        _modify { yield &histograms[stage.rawValue] }
    }
}
