import Conference

/// Whether anybody else can be let in, as `GET /readyz` tells it.
struct Readiness: Encodable, Equatable {
    var ready: Bool
    /// Why not.
    var reason: String?
    /// After how many seconds it may be otherwise.
    var retryAfter: Int?
    /// What the governor has come to; nil where there is none.
    var level: GovernorLevel?
    /// How many more participants fit; nil while it is not known.
    var seatsLeft: Int?
    /// Which of the governor's measures are in force, in a sentence.
    var measures: String?

    init(_ report: ServerReport) {
        let governor = report.relay.governor
        ready = report.isServing && governor?.refusal == nil
        if report.isServing {
            reason = governor?.refusal?.reason
            retryAfter = governor?.refusal?.retryAfter
        } else {
            reason = "media is not being served"
        }
        level = governor?.level
        seatsLeft = governor?.seatsLeft
        measures = governor?.measures
    }
}
