import Testing

/// Looks again and again until a condition holds, and ends the test where that takes far longer than on a busy machine.
func eventually(
    sourceLocation: SourceLocation = #_sourceLocation, _ condition: () async throws -> Bool
) async throws {
    let limit = ContinuousClock.now + .seconds(120)
    while try await !condition() {
        try #require(ContinuousClock.now < limit, "it did not come true in time", sourceLocation: sourceLocation)
        try await Task.sleep(for: .milliseconds(2))
    }
}
