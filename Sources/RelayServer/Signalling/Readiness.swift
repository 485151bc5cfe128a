import Conference
import LoadControl

/// The answer of `GET /readyz`: whether another participant can join.
struct Readiness: Encodable, Equatable {
    var ready: Bool
    /// The reason for which nobody can join.
    var reason: String?
    /// The seconds after which it may be different.
    var retryAfter: Int?
    /// The level of overload control; nil without it.
    var level: OverloadLevel?
    /// The number of further participants that fit; nil while it is not known.
    var seatsLeft: Int?
    /// The active measures of overload control, in a sentence.
    var measures: String?

    init(_ report: ServerReport) {
        let overload = report.relay.overload
        ready = report.isServing && !report.relay.isDraining && overload?.refusal == nil
        if report.isServing, report.relay.isDraining {
            reason = JoinError.draining.description
        } else if report.isServing {
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
