import Testing

/// A condition that did not come true in time.
struct TimeoutError: Error, CustomStringConvertible {
    var description: String
}

/// Polls until `condition` gives a value, and fails the test when that takes longer than `limit`.
@discardableResult
func eventually<Value>(
    _ what: @autoclosure () -> String, within limit: Duration, _ condition: () async throws -> Value?
) async throws -> Value {
    let deadline = ContinuousClock.now + limit
    while true {
        if let value = try await condition() { return value }
        guard ContinuousClock.now < deadline else {
            throw TimeoutError(description: "not within \(limit): \(what())")
        }
        try await Task.sleep(for: .milliseconds(50))
    }
}
