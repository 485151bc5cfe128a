import LinkEmulation
import MediaCore

struct LinkReader {
    let files: FileReader
    let duration: Duration

    func profile(_ node: ScenarioNode) throws(ScenarioError) -> LinkProfile {
        var reader = try MappingReader(node, subject: "a link")
        var profile = LinkProfile()
        profile.rate = try rate(&reader)
        profile.delay = try reader.duration("delay") ?? .zero
        profile.jitter = try reader.duration("jitter") ?? .zero
        profile.reorders = try reader.boolean("reorder") ?? false
        profile.loss = try loss(&reader) ?? .none
        if let queue = try reader.value(
            "queue", expected: "a time such as 300ms, a size such as 64kB, or packets such as 1000p",
            { LinkProfile.queueLimit($0) })
        {
            profile.queue = queue
        }
        profile.maximumPackets = try reader.integer("packets", in: 1...1_000_000)
        if let discipline = try reader.value(
            "aqm", expected: "drop-tail, codel, fq-codel or dualpi2", QueueDiscipline.init(rawValue:))
        {
            profile.discipline = discipline
        }
        profile.policer = try reader.take("policer").map { node throws(ScenarioError) in
            var reader = try MappingReader(node, subject: "a policer")
            guard let rate = try reader.rate("rate"), rate > .zero, let burst = try reader.size("burst") else {
                throw node.error("a policer needs a 'rate' above zero and a 'burst'")
            }
            try reader.finish()
            return Policer(rate: rate, burst: burst)
        }
        profile.changes = try changes(&reader)
        try reader.finish()
        return profile
    }

    /// Reads a rate, scripted steps (rates, or ratios of a reference), or a trace.
    private func rate(_ reader: inout MappingReader) throws(ScenarioError) -> LinkRate {
        let fixed = reader.take("rate")
        let steps = reader.take("steps")
        let trace = reader.take("trace")
        let reference = try reader.rate("reference-rate")
        guard [fixed, steps, trace].count(where: { $0 != nil }) <= 1 else {
            throw reader.node.error("'rate', 'steps' and 'trace' exclude each other; give one of them")
        }
        if let fixed {
            return try fixed.value("rate", expected: "a rate above zero such as 500k or 2.5M, or unlimited") { text in
                if text == "unlimited" { return .unlimited }
                return LinkProfile.bitRate(text).flatMap { $0 > .zero ? .fixed($0) : nil }
            }
        }
        if let trace { return try files.rate(trace) }
        guard let steps else { return .unlimited }
        var all: [LinkRate.Step] = []
        try steps.timeline("steps", until: duration) { time, element throws(ScenarioError) in
            let rate = try element.rate("rate")
            let ratio = try element.number("ratio", in: 0...1000)
            switch (rate, ratio, reference) {
            case (let rate?, nil, _): all.append(LinkRate.Step(at: time, rate: rate))
            case (nil, let ratio?, let reference?): all.append(LinkRate.Step(at: time, rate: reference * ratio))
            case (nil, .some, nil): throw element.node.error("a step's 'ratio' needs the link's 'reference-rate'")
            default: throw element.node.error("a step needs either a 'rate' or a 'ratio'")
            }
        }
        guard all.first?.time == .zero else { throw steps.error("the first of 'steps' must be at 0s") }
        return .steps(all)
    }

    /// Reads independent losses, or bursts of them; nil if neither is given.
    private func loss(_ reader: inout MappingReader) throws(ScenarioError) -> LossModel? {
        let probability = try reader.probability("loss")
        let burst = try reader.number("burst", in: 1...1e6)
        let model = try reader.take("gilbert-elliott").map { node throws(ScenarioError) in
            var reader = try MappingReader(node, subject: "'gilbert-elliott'")
            guard let toBad = try reader.probability("to-bad"), let toGood = try reader.probability("to-good") else {
                throw node.error("'gilbert-elliott' needs 'to-bad' and 'to-good'")
            }
            let model = LossModel.GilbertElliott(
                toBad: toBad, toGood: toGood, lossInGood: try reader.probability("loss-in-good") ?? 0,
                lossInBad: try reader.probability("loss-in-bad") ?? 1)
            try reader.finish()
            return LossModel.gilbertElliott(model)
        }
        if let model {
            guard probability == nil, burst == nil else {
                throw reader.node.error("'gilbert-elliott' and 'loss' exclude each other; give one of them")
            }
            return model
        }
        guard let burst else { return probability.map { .bernoulli($0) } }
        guard let probability else { throw reader.node.error("'burst' needs 'loss'") }
        return .gilbertElliott(LossModel.GilbertElliott(loss: probability, burstLength: burst))
    }

    private func changes(_ reader: inout MappingReader) throws(ScenarioError) -> [LinkProfile.Change] {
        guard let node = reader.take("changes") else { return [] }
        var changes: [LinkProfile.Change] = []
        try node.timeline("changes", until: duration) { time, element throws(ScenarioError) in
            changes.append(
                LinkProfile.Change(
                    at: time, delay: try element.duration("delay"), jitter: try element.duration("jitter"),
                    loss: try loss(&element)))
        }
        return changes
    }
}
