import ArgumentParser

/// The value of an option that takes several names, with commas between them.
struct CommaSeparated<Value: RawRepresentable<String> & Sendable>: ExpressibleByArgument, CustomStringConvertible {
    let values: [Value]

    init(values: [Value]) {
        self.values = values
    }

    init?(argument: String) {
        let parts = argument.split(separator: ",", omittingEmptySubsequences: false)
        let values = parts.compactMap { Value(rawValue: String($0)) }
        guard values.count == parts.count, !values.isEmpty else { return nil }
        self.values = values
    }

    var description: String { values.map(\.rawValue).joined(separator: ",") }
}
