import ArgumentParser
import MediaCore
import NetworkSimulation
import RateControl

/// The controllers that can be simulated, by the names of the command line.
enum ControllerKind: String, CaseIterable, ExpressibleByArgument {
    case google
    case scream
    case nada
    case confrelay
    case fixed
    case oracle

    /// A controller for a flow.
    func make(for context: ControllerContext) -> SimulatedController {
        switch self {
        case .google:
            SimulatedController(GoogleCongestionController(limits: context.limits, now: context.start))
        case .fixed: SimulatedController(FixedRateController(rate: context.limits.start))
        case .confrelay:
            SimulatedController(ConfrelayCongestionController(limits: context.limits, now: context.start))
        case .scream:
            SimulatedController(
                ScreamCongestionController(limits: context.limits, now: context.start),
                feedback: .congestionControl)
        case .nada:
            SimulatedController(
                NADACongestionController(limits: context.limits), feedback: .congestionControl,
                feedbackInterval: .milliseconds(100), reportsFrameEnds: false)
        case .oracle:
            SimulatedController(
                OracleController(
                    link: LinkProfile(rate: context.fairRate), frameInterval: context.frameInterval,
                    limits: context.limits))
        }
    }
}
