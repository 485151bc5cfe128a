import CongestionControl
import FlightRecording
import Simulation

/// The controllers that can run on a recording: all but the oracle, which needs to know the link.
struct RecordedController {
    private let kind: ControllerKind

    static let names = ControllerKind.allCases.filter { $0 != .oracle }.map(\.rawValue).joined(separator: ", ")

    /// Creates the controller of this name; nil for an unknown name, and for a controller that cannot run on a
    /// recording.
    init?(name: String) {
        guard let kind = ControllerKind(rawValue: name), kind != .oracle else { return nil }
        self.kind = kind
    }

    /// Creates a controller with the recording's initial state.
    ///
    /// - Throws: The reason why this program cannot change the constants as the recording says.
    func make(_ header: FlightHeader) throws(ConfrelayParameters.ScalingError) -> any CongestionController {
        let scaling = kind == .confrelay && header.controller == kind.rawValue ? header.scaling : []
        let parameters = try ConfrelayParameters(multiplying: scaling.map { ($0.name, $0.factor) })
        let context = ControllerContext(limits: header.limits, start: header.start)
        return kind.make(for: context, parameters: parameters).controller
    }
}
