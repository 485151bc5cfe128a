import Foundation
import HTTPTransfer
import RoomAPI

extension HTTPClient.Answer {
    /// Why the relay refused, for people: they have options, and see no header fields.
    var refusal: String {
        let problem = try? JSONDecoder().decode(ProblemDetails.self, from: Data(body))
        let line = String(decoding: body, as: UTF8.self).split(whereSeparator: \.isNewline).first
        let reason = problem?.reason ?? problem?.title ?? line.map { String($0.prefix(200)) }
        return reason?.replacing(ProblemDetails.proofInstruction, with: "give --token with") ?? "it does not say why"
    }
}
