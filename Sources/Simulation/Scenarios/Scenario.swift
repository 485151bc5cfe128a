public import CongestionControl
public import LinkEmulation
public import MediaCore

/// A scenario for `confsim run`: links, flows over them, and a duration.
public struct Scenario: Sendable {
    /// A link of a scenario, with the name that flows use.
    public struct Link: Hashable, Sendable {
        public var name: String
        public var profile: LinkProfile

        public init(name: String, profile: LinkProfile) {
            self.name = name
            self.profile = profile
        }
    }

    public struct Flow: Sendable {
        public enum Kind: Sendable {
            /// Media under the tested congestion controller.
            case media(MediaFlowParameters, RateLimits)
            case audio(DatagramFlowParameters)
            case tcp(TCPFlowParameters)
            case udp(DatagramFlowParameters)
        }

        public var name: String
        public var kind: Kind
        /// The links from its sender to its receiver, in order; `backward` has those in the other direction.
        public var forward: [String]
        public var backward: [String]

        public init(name: String, kind: Kind, forward: [String], backward: [String]) {
            self.name = name
            self.kind = kind
            self.forward = forward
            self.backward = backward
        }
    }

    public var name: String
    /// The suite of the scenario, such as a folder; reports show the means of each suite. Empty for none.
    public var suite: String
    public var title: String
    /// The source of the scenario, such as an RFC's section.
    public var reference: String
    /// The expected behaviour of a good controller.
    public var expectation: String
    public var duration: Duration
    /// The measured time; nil for the whole duration.
    public var window: Range<Duration>?
    public var links: [Link]
    public var flows: [Flow]

    public init(
        name: String, suite: String = "", title: String = "", reference: String = "", expectation: String = "",
        duration: Duration,
        window: Range<Duration>? = nil, links: [Link], flows: [Flow]
    ) {
        self.name = name
        self.suite = suite
        self.title = title
        self.reference = reference
        self.expectation = expectation
        self.duration = duration
        self.window = window
        self.links = links
        self.flows = flows
    }
}

extension Scenario {
    /// Returns the forward link with the least capacity over the whole time; nil if none is limited.
    func bottleneck(of flow: Flow) -> Link? {
        let limited = links.compactMap { link -> (link: Link, size: DataSize)? in
            guard flow.forward.contains(link.name) else { return nil }
            let rated = link.profile.rate.capacity(from: .zero, to: duration)
            let policed = link.profile.policer?.rate.dataSize(over: duration)
            return [rated, policed].compactMap { $0 }.min().map { (link, $0) }
        }
        return limited.min { $0.size < $1.size }?.link
    }
}

/// The inputs for the creation of a controller.
public struct ControllerContext: Sendable {
    public var limits: RateLimits
    /// The time at which its flow begins.
    public var start: MonotonicInstant
    /// The rate and the policer of the path's tightest link, divided by the number of media flows with that link in
    /// their paths. For the oracle.
    public var fairLink: LinkProfile
    public var frameInterval: Duration
    /// The size that the links carry for each packet in addition to the size that the controller knows.
    public var packetOverhead: DataSize

    public init(
        limits: RateLimits, start: MonotonicInstant = .zero, fairLink: LinkProfile = LinkProfile(),
        frameInterval: Duration = .nanoseconds(33_333_333), packetOverhead: DataSize = .zero
    ) {
        self.limits = limits
        self.start = start
        self.fairLink = fairLink
        self.frameInterval = frameInterval
        self.packetOverhead = packetOverhead
    }
}

/// A controller for a simulated flow, and the feedback that it was designed for.
public struct SimulatedController: Sendable {
    public var controller: any CongestionController
    /// The controller's preferred feedback; the scenario's setting takes precedence. Nil for the scenario's kind, and
    /// for a browser's timing.
    public var feedback: MediaFlowParameters.Feedback?
    public var feedbackTiming: FeedbackTiming?
    public var reportsFrameEnds: Bool?

    public init(
        _ controller: any CongestionController, feedback: MediaFlowParameters.Feedback? = nil,
        feedbackTiming: FeedbackTiming? = nil, reportsFrameEnds: Bool? = nil
    ) {
        self.controller = controller
        self.feedback = feedback
        self.feedbackTiming = feedbackTiming
        self.reportsFrameEnds = reportsFrameEnds
    }

    /// Returns the flow's parameters with the feedback that the controller was designed for.
    func adapting(_ parameters: MediaFlowParameters) -> MediaFlowParameters {
        var parameters = parameters
        parameters.feedbackTiming = parameters.feedbackTiming ?? feedbackTiming
        guard !parameters.isFeedbackGiven else { return parameters }
        parameters.feedback = feedback ?? parameters.feedback
        parameters.reportsFrameEnds = reportsFrameEnds ?? parameters.reportsFrameEnds
        return parameters
    }
}
