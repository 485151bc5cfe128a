import Foundation
import Hummingbird
import HummingbirdCore
import RoomAPI

extension Request {
    /// The query's parameters. A parameter with a mistake in its name would otherwise leave a setting as it was, and
    /// nobody would be told.
    ///
    /// - Parameter names: The names that the request takes.
    func query(taking names: [String]) throws(Problem) -> FlatDictionary<Substring, Substring> {
        // Its parser takes a value that it cannot decode as it stands.
        guard (uri.query ?? "").removingPercentEncoding != nil else {
            throw Problem(.badRequest, "the query is not text in UTF-8, percent-encoded")
        }
        let query = uri.queryParameters
        let unknown = query.map { String($0.key) }.first { !$0.isEmpty && !names.contains($0) }
        guard let unknown else { return query }
        throw Problem(
            .badRequest,
            "there is no query parameter \"\(ShownName.made(of: unknown))\"; use \(names.joined(separator: ", "))")
    }
}
