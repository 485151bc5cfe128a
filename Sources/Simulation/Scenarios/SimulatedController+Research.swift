import CongestionControl
import MediaCore
import ResearchControllers

/// Controllers with the feedback that each was designed for.
extension SimulatedController {
    /// Returns SCReAM version 2 with feedback on each packet (RFC 8888), 10 to 500 times a second in 2 % of the rate,
    /// as from its authors' receiver (draft-ietf-ccwg-rfc8298bis-screamv2, "Receiver Requirements on Feedback
    /// Intensity").
    public static func scream(for context: ControllerContext) -> SimulatedController {
        SimulatedController(
            ScreamCongestionController(limits: context.limits, now: context.start), feedback: .congestionControl,
            feedbackTiming: FeedbackTiming(
                size: DataSize(bytes: 100), share: 0.02, bounds: .milliseconds(2)...(.milliseconds(100))))
    }

    /// Returns NADA with feedback on each packet ten times a second (RFC 8698, figure 3).
    public static func nada(for context: ControllerContext) -> SimulatedController {
        SimulatedController(
            NADACongestionController(limits: context.limits), feedback: .congestionControl,
            feedbackTiming: .every(.milliseconds(100)), reportsFrameEnds: false)
    }
}
