/// The reason why a room could not be simulated.
public enum RoomSimulationError: Error, CustomStringConvertible {
    case setUp(String)
    case encoding(String)

    public var description: String {
        switch self {
        case .setUp(let reason): "the simulated room could not be set up: \(reason)"
        case .encoding(let reason): "an encoder of the simulated room failed: \(reason)"
        }
    }
}
