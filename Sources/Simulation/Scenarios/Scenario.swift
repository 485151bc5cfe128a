public import CongestionControl
public import LinkEmulation
public import MediaCore

/// Links, flows over them, and for how long: what `confsim run` simulates.
public struct Scenario: Sendable {
    /// A link of a scenario, by the name that flows take it by.
    public struct Link: Hashable, Sendable {
        public var name: String
        public var profile: LinkProfile

        public init(name: String, profile: LinkProfile) {
            self.name = name
            self.profile = profile
        }
    }

    /// A flow of a scenario.
    public struct Flow: Sendable {
        public enum Kind: Sendable {
            /// Media under the congestion controller that is looked at.
            case media(MediaFlowParameters, RateLimits)
            case audio(DatagramFlowParameters)
            case tcp(TCPFlowParameters)
            case udp(DatagramFlowParameters)
        }

        public var name: String
        public var kind: Kind
        /// The links from its sender to its receiver, and those back, in order.
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
    /// What it is one of, such as a folder of scenarios: reports show means of each suite. Empty for none.
    public var suite: String
    public var title: String
    /// Where it comes from, such as an RFC's section.
    public var reference: String
    /// What a good controller does here.
    public var expectation: String
    public var duration: Duration
    /// What is measured; the whole time otherwise.
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
    /// The link of a flow's way to its receiver that carries least over the whole time; nil when none is limited.
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

/// What a controller is made for.
public struct ControllerContext: Sendable {
    public var limits: RateLimits
    /// When its flow begins.
    public var start: MonotonicInstant
    /// The rate of the tightest link of its path, divided by the media flows that have that link in their paths: what
    /// an oracle knows.
    public var fairRate: LinkRate
    public var frameInterval: Duration
    /// What the links carry of each packet besides the size that a controller is told.
    public var packetOverhead: DataSize

    public init(
        limits: RateLimits, start: MonotonicInstant = .zero, fairRate: LinkRate = .unlimited,
        frameInterval: Duration = .nanoseconds(33_333_333), packetOverhead: DataSize = .zero
    ) {
        self.limits = limits
        self.start = start
        self.fairRate = fairRate
        self.frameInterval = frameInterval
        self.packetOverhead = packetOverhead
    }
}

/// A controller for a simulated flow, and the feedback that it is made for.
public struct SimulatedController: Sendable {
    public var controller: any CongestionController
    /// What the scenario says of feedback goes first. Nil for the scenario's, and for a browser's timing.
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

    /// The flow's parameters with the feedback that the controller is made for.
    func adapting(_ parameters: MediaFlowParameters) -> MediaFlowParameters {
        var parameters = parameters
        parameters.feedbackTiming = parameters.feedbackTiming ?? feedbackTiming
        guard !parameters.isFeedbackGiven else { return parameters }
        parameters.feedback = feedback ?? parameters.feedback
        parameters.reportsFrameEnds = reportsFrameEnds ?? parameters.reportsFrameEnds
        return parameters
    }
}
