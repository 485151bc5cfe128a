public struct ConfrelayParameters: Sendable {
    public var values: [String: Double] = [
        "util": 0.9, "drain": 0.033, "tau": 0.08, "hold": 0.06, "pace": 1.6, "fb": 0.016, "timeout": 0.2,
        "tick": 0.005, "dwin": 0.005, "slowtau": 0.5, "slowgain": 100, "train": 1, "basewin": 10, "minpace": 400,
        "margin": 0.002, "maxgrow": 100, "d0": 0.0, "qw": 1, "kn": 1, "kappa": 0, "idle": 1, "grow": 1, "trickle": 0, "vh": 0.1, "kdev": 0, "deveta": 0.02, "jeta": 0.02, "jq": 0.5, "jgain": 0, "jd": 0, "cap": 0.05, "wall": 0, "up": 1,
    ]
    public init() {}
    public subscript(name: String) -> Double {
        get { values[name] ?? 0 }
        set { values[name] = newValue }
    }
}
