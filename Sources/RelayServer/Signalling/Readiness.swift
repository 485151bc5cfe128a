import Conference
import LoadControl

/// Whether anybody else can be let in, as `GET /readyz` tells it.
struct Readiness: Encodable, Equatable {
    var ready: Bool
    /// Why not.
    var reason: String?
    /// After how many seconds it may be otherwise.
    var retryAfter: Int?
    /// What overload control has come to; nil where there is none.
    var level: OverloadLevel?
    /// How many more participants fit; nil while it is not known.
    var seatsLeft: Int?
    /// Which of overload control's measures are in force, in a sentence.
    var measures: String?

    init(_ report: ServerReport) {
        let overload = report.relay.overload
        ready = report.isServing && overload?.refusal == nil
        if report.isServing {
            reason = overload?.refusal?.reason
            retryAfter = overload?.refusal?.retryAfter
        } else {
            reason = "media is not being served"
        }
        level = overload?.level
        seatsLeft = overload?.seatsLeft
        measures = overload?.measures
    }
}
