public struct ConfrelayParameters: Sendable {
    public var values: [String: Double] = [
        "util": 0.9, "drain": 0.05, "tau": 0.08, "hold": 0.06, "pace": 1.6, "fb": 0.016, "timeout": 0.1,
        "tick": 0.005, "dwin": 0.033, "slowtau": 0.5, "slowgain": 100, "train": 1, "basewin": 10, "minpace": 400,
        "margin": 0.002, "maxgrow": 100, "d0": 0.0, "qw": 1,
    ]
    public init() {}
    public subscript(name: String) -> Double {
        get { values[name] ?? 0 }
        set { values[name] = newValue }
    }
}
