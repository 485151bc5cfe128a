/// An error in a scenario's file, with its place.
public struct ScenarioError: Error, Hashable, Sendable, CustomStringConvertible {
    public var file: String
    /// The line from 1; nil if the error concerns the whole file.
    public var line: Int?
    public var reason: String

    public var description: String {
        line.map { "\(file):\($0): \(reason)" } ?? "\(file): \(reason)"
    }
}
