import CongestionControl
import ResearchControllers

/// Controllers with the feedback that each is made for.
extension SimulatedController {
    /// SCReAM version 2, which is told of each packet (RFC 8888).
    public static func scream(for context: ControllerContext) -> SimulatedController {
        SimulatedController(
            ScreamCongestionController(limits: context.limits, now: context.start), feedback: .congestionControl)
    }

    /// NADA, which is told of each packet ten times a second (RFC 8698, figure 3).
    public static func nada(for context: ControllerContext) -> SimulatedController {
        SimulatedController(
            NADACongestionController(limits: context.limits), feedback: .congestionControl,
            feedbackInterval: .milliseconds(100), reportsFrameEnds: false)
    }
}
