import CongestionControl
import FlightRecording
import Simulation

/// The controllers that can run on a recording: those that need to know nothing else.
struct RecordedController {
    private let kind: ControllerKind

    static let names = ControllerKind.allCases.filter { $0 != .oracle }.map(\.rawValue).joined(separator: ", ")

    /// Nil for a name that there is not, and for one that cannot.
    init?(name: String) {
        guard let kind = ControllerKind(rawValue: name), kind != .oracle else { return nil }
        self.kind = kind
    }

    /// A controller as the recording's was when it began; nil for constants that this program does not know.
    func make(_ header: FlightHeader) -> (any CongestionController)? {
        var parameters = ConfrelayParameters()
        if kind == .confrelay, header.controller == kind.rawValue {
            for constant in header.scaling {
                guard parameters.scale(constant.name, by: constant.factor) else { return nil }
            }
        }
        let context = ControllerContext(limits: header.limits, start: header.start)
        return kind.make(for: context, parameters: parameters).controller
    }
}
