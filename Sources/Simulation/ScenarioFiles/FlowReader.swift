import CongestionControl
import LinkEmulation
import MediaCore
import RTP

struct FlowReader {
    let files: FileReader
    let duration: Duration
    let defaults: Defaults
    let links: Set<String>

    /// Returns the flows of an entry: several if it has a `count`.
    func flows(named name: String, _ node: ScenarioNode) throws(ScenarioError) -> [Scenario.Flow] {
        guard let kindNode = node["kind"] else { throw node.error("the flow '\(name)' needs a 'kind'") }
        let kinds = Defaults.flowKinds
        let kind = try kindNode.value("kind", expected: kinds.joined(separator: ", ")) { kinds.contains($0) ? $0 : nil }
        var reader = try MappingReader(defaults.completed(node, kind: kind), subject: "a flow of kind \(kind)")
        _ = reader.take("kind")
        let forward = try path("forward", &reader)
        let backward = try path("backward", &reader)
        let count = try reader.integer("count", in: 1...1000) ?? 1
        let stagger = try reader.duration("stagger") ?? .zero
        let start = try time("start", &reader) ?? .zero
        let stop = try time("stop", &reader)
        let last = start + stagger * (count - 1)
        if let stop, stop <= last {
            throw node.error("\(count > 1 ? "the last flow of" : "the flow") '\(name)' stops before it starts")
        }
        guard last < duration else {
            throw node.error("the last flow of '\(name)' starts after the end at \(duration.shown)")
        }
        let common = Common(start: start, stop: stop)
        let value: Scenario.Flow.Kind
        switch kind {
        case "media": value = try media(common, &reader)
        case "audio":
            let rate = try audioRate("rate", &reader) ?? .kilobits(20)
            value = .audio(.audio(rate: rate, start: start, stop: stop))
        case "tcp": value = .tcp(try tcp(common, &reader))
        default: value = .udp(try udp(common, &reader))
        }
        try reader.finish()
        return (0..<count).map { index in
            Scenario.Flow(
                name: count > 1 ? "\(name) \(index + 1)" : name, kind: value.delayed(by: stagger * index),
                forward: forward, backward: backward)
        }
    }

    private struct Common {
        var start: Duration
        var stop: Duration?
    }

    private func time(_ key: String, _ reader: inout MappingReader) throws(ScenarioError) -> Duration? {
        guard let node = reader.take(key) else { return nil }
        let time = try node.value(key, expected: Expected.time) { LinkProfile.duration($0) }
        guard time <= duration else { throw node.error("'\(key)' is after the end at \(duration.shown)") }
        return time
    }

    private func path(_ key: String, _ reader: inout MappingReader) throws(ScenarioError) -> [String] {
        let nodes = try reader.texts(key)
        var names: [String] = []
        for node in nodes ?? [] {
            let name = try node.value(key, expected: "the names of links") { $0 }
            guard links.contains(name) else {
                throw node.error("there is no link '\(name)'; there are \(links.sorted().joined(separator: ", "))")
            }
            names.append(name)
        }
        guard nodes == nil else {
            guard !names.isEmpty else { throw reader.node.error("'\(key)' needs at least one link") }
            return names
        }
        guard links.contains(key) else {
            throw reader.node.error("a flow needs '\(key)', the links that it takes, where no link is called so")
        }
        return [key]
    }

    private func media(_ common: Common, _ reader: inout MappingReader) throws(ScenarioError) -> Scenario.Flow.Kind {
        let minimum = try reader.rate("minimum") ?? .kilobits(150)
        let maximum = try reader.rate("maximum") ?? .megabits(8)
        let first = try reader.rate("start-rate") ?? .kilobits(300)
        guard minimum > .zero, minimum <= first, first <= maximum else {
            throw reader.node.error("'minimum', 'start-rate' and 'maximum' must be above zero and ascend")
        }
        let sizes = try reader.take("frame-sizes").map { node throws(ScenarioError) in try files.frameSizes(node) }
        let encoder = EncoderModel.Configuration(
            frameRate: try reader.integer("frame-rate", in: 1...240) ?? 30, minimum: minimum, maximum: maximum,
            noise: try reader.probability("noise") ?? 0.1,
            keyframeFactor: try reader.number("keyframe-factor", in: 0.1...100) ?? 5,
            responseLag: try reader.duration("response-lag") ?? .zero,
            keyframeInterval: try reader.duration("keyframe-interval"), recordedFrameSizes: sizes ?? [])
        var parameters = MediaFlowParameters(encoder: encoder, start: common.start, stop: common.stop)
        if let feedback = try reader.value(
            "feedback", expected: "transport-wide, rfc8888 or receiver-reports",
            { (text: String) -> MediaFlowParameters.Feedback? in
                switch text {
                case "transport-wide": .transportWide
                case "rfc8888": .congestionControl
                case "receiver-reports": .receiverReports
                default: nil
                }
            })
        {
            parameters.feedback = feedback
            parameters.isFeedbackGiven = true
        }
        parameters.feedbackTiming =
            try reader.value("feedback-interval", expected: FeedbackTiming.expected, FeedbackTiming.init(parsing:))
            ?? parameters.feedbackTiming
        parameters.canPad = try reader.boolean("padding") ?? true
        parameters.audio = try audioRate("audio", &reader)
        parameters.repair =
            try reader.value("repair", expected: "none or nack") { MediaFlowParameters.Repair(rawValue: $0) } ?? .nack
        parameters.pictures = try pictures(&reader)
        parameters.ecn = try ecn(&reader)
        parameters.receiverClockDrift = try reader.number("clock-drift", in: -10_000...10_000) ?? 0
        parameters.events = try events(&reader)
        return .media(parameters, RateLimits(minimum: minimum, start: first, maximum: maximum))
    }

    /// Reads the rate of audio. Packets of no bytes would leave each microsecond, and longer ones than Opus has would
    /// fit no datagram.
    private func audioRate(_ key: String, _ reader: inout MappingReader) throws(ScenarioError) -> BitRate? {
        try reader.value(key, expected: "a rate of audio, from 1k to 510k") { text in
            LinkProfile.bitRate(text).flatMap { $0 >= .kilobits(1) && $0 <= .kilobits(510) ? $0 : nil }
        }
    }

    /// Reads the real pictures of a flow; nil for the encoder's model.
    private func pictures(_ reader: inout MappingReader) throws(ScenarioError) -> PictureCoding? {
        let encoders = PictureCoding.Encoder.allCases
        let expected = "model, " + encoders.map(\.rawValue).joined(separator: " or ")
        let encoder = try reader.value("encoder", expected: expected) {
            (text: String) -> PictureCoding.Encoder?? in
            text == "model" ? .some(nil) : PictureCoding.Encoder(rawValue: text).map { .some($0) }
        }
        let video = reader.take("video")
        let size = try reader.value("video-size", expected: "an even width and height such as 640x360") {
            PictureCoding.dimensions(parsing: $0)
        }
        guard let encoder = encoder ?? nil else {
            guard video == nil, size == nil else {
                throw reader.node.error(
                    "'video' and 'video-size' are for real pictures; set 'encoder' to one of \(expected)")
            }
            return nil
        }
        let clip = try video.map { node throws(ScenarioError) in try files.path(node, named: "video") }
        return PictureCoding(encoder: encoder, clip: clip, dimensions: size)
    }

    private func events(
        _ reader: inout MappingReader
    ) throws(ScenarioError) -> [(time: Duration, event: MediaFlowParameters.Event)] {
        var events: [(time: Duration, event: MediaFlowParameters.Event)] = []
        if let node = reader.take("pauses") {
            for span in try node.spans("pauses", until: duration) {
                events += [(span.lowerBound, .sending(false)), (span.upperBound, .sending(true))]
            }
        }
        if let node = reader.take("feedback-outages") {
            for span in try node.spans("feedback-outages", until: duration) {
                events += [(span.lowerBound, .feedbackLost(true)), (span.upperBound, .feedbackLost(false))]
            }
        }
        for node in try reader.texts("keyframes") ?? [] {
            let time = try node.value("keyframes", expected: Expected.time) { LinkProfile.duration($0) }
            events.append((time, .keyframeRequest))
        }
        try reader.take("content-changes")?.timeline("content-changes", until: duration) {
            time, element throws(ScenarioError) in
            guard let factor = try element.number("factor", in: 0.01...100) else {
                throw element.node.error("a content change needs a 'factor'")
            }
            events.append((time, .contentChange(factor)))
        }
        try reader.take("application-limits")?.timeline("application-limits", until: duration) {
            time, element throws(ScenarioError) in
            guard let rate = try element.rate("rate") else {
                throw element.node.error("an application's limit needs a 'rate'")
            }
            events.append((time, .applicationLimit(rate)))
        }
        return events
    }

    private func ecn(_ reader: inout MappingReader) throws(ScenarioError) -> ECNCodepoint {
        try reader.value("ecn", expected: "none, classic or l4s") { text in
            switch text {
            case "none": .notCapable
            case "classic": .capable0
            case "l4s": .capable1
            default: nil
            }
        } ?? .notCapable
    }

    private func tcp(_ common: Common, _ reader: inout MappingReader) throws(ScenarioError) -> TCPFlowParameters {
        var parameters = TCPFlowParameters(start: common.start, stop: common.stop)
        parameters.variant =
            try reader.value("variant", expected: "cubic or reno") { TCPVariant(rawValue: $0) } ?? .cubic
        parameters.segmentSize = try reader.size("segment-size") ?? parameters.segmentSize
        parameters.usesECN = try ecn(&reader) != .notCapable
        parameters.transfers = try reader.take("transfers").map { node throws(ScenarioError) in
            var reader = try MappingReader(node, subject: "'transfers'")
            guard let minimum = try reader.size("minimum"), let maximum = try reader.size("maximum"),
                let idle = try reader.duration("mean-idle"), minimum <= maximum, idle > .zero
            else {
                throw node.error("'transfers' need ascending 'minimum' and 'maximum', and a 'mean-idle' above zero")
            }
            let beginsAtOnce = try reader.value("begins", expected: "at-once or idle") { text in
                text == "at-once" ? true : text == "idle" ? false : nil
            }
            try reader.finish()
            return TCPFlowParameters.Transfers(
                minimumSize: minimum, maximumSize: maximum, meanIdleTime: idle, beginsAtOnce: beginsAtOnce ?? false)
        }
        return parameters
    }

    private func udp(_ common: Common, _ reader: inout MappingReader) throws(ScenarioError) -> DatagramFlowParameters {
        guard let rate = try reader.rate("rate"), rate > .zero else {
            throw reader.node.error("a flow of kind udp needs a 'rate' above zero")
        }
        var parameters = DatagramFlowParameters(rate: rate, start: common.start, stop: common.stop)
        parameters.packetSize = try reader.size("packet-size") ?? parameters.packetSize
        parameters.ecn = try ecn(&reader)
        parameters.spacing =
            try reader.value("spacing", expected: "even or random") { text in
                text == "even" ? .even : text == "random" ? .random : nil
            } ?? .even
        let on = try reader.duration("on")
        let off = try reader.duration("off")
        let isRandom = try reader.boolean("random-periods") ?? false
        switch (on, off) {
        case (nil, nil): break
        case (let on?, let off?) where on > .zero:
            parameters.onOff = DatagramFlowParameters.OnOff(on: on, off: off, isRandom: isRandom)
        default: throw reader.node.error("'on' and 'off' are given together, and 'on' is above zero")
        }
        return parameters
    }
}

extension Scenario.Flow.Kind {
    /// Returns the same flow with a later start.
    fileprivate func delayed(by delay: Duration) -> Scenario.Flow.Kind {
        switch self {
        case .media(var parameters, let limits):
            parameters.start += delay
            return .media(parameters, limits)
        case .audio(var parameters):
            parameters.start += delay
            return .audio(parameters)
        case .tcp(var parameters):
            parameters.start += delay
            return .tcp(parameters)
        case .udp(var parameters):
            parameters.start += delay
            return .udp(parameters)
        }
    }
}
