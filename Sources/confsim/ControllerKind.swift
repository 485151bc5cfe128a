import ArgumentParser
import CongestionControl
import LinkEmulation
import MediaCore
import ResearchControllers
import Simulation

/// The controllers that can be simulated, with their names on the command line.
enum ControllerKind: String, CaseIterable, ExpressibleByArgument {
    case google
    case scream
    case nada
    case confrelay
    case fixed
    case oracle

    /// Creates a controller for a flow.
    ///
    /// - Parameter parameters: The constants of `confrelay`.
    func make(
        for context: ControllerContext, parameters: ConfrelayParameters = ConfrelayParameters()
    ) -> SimulatedController {
        switch self {
        case .google:
            SimulatedController(GoogleCongestionController(limits: context.limits, now: context.start))
        case .fixed: SimulatedController(FixedRateController(rate: context.limits.start))
        case .confrelay:
            SimulatedController(
                ConfrelayCongestionController(limits: context.limits, parameters: parameters, now: context.start))
        case .scream: .scream(for: context)
        case .nada: .nada(for: context)
        case .oracle:
            SimulatedController(
                OracleController(
                    link: context.fairLink, frameInterval: context.frameInterval,
                    limits: context.limits, packetOverhead: context.packetOverhead))
        }
    }
}
