import Foundation
import Testing

@testable import Conference
@testable import RelayServer

/// The tables of docs/metrics.md, each between `<!-- NAME -->` and `<!-- end -->`, equal the program's own list.
///
/// `CONFRELAY_WRITE_DOCS=1` writes them again.
@Suite("The page on metrics", .serialized)
struct MetricsDocumentTests {
    private static let page = "metrics.md"

    @Test(
        "lists the values that the program writes",
        arguments: [
            ("relay", rows(MetricFamily.relay)), ("overload", rows(MetricFamily.overload)),
            ("room", rows(MetricFamily.room)),
            ("participant", rows(MetricFamily.participant)),
        ])
    func tables(name: String, rows: [String]) throws {
        try DocumentPage.expect(rows.joined(separator: "\n"), named: name, in: Self.page)
    }

    @Test("names fields that the JSON of a room and of a participant has")
    func fields() throws {
        var participant = ParticipantSnapshot(id: "a", name: "Ada", role: "publish")
        participant.roundTripTime = 1
        participant.uplink.maximumBitRate = 1
        try expectFields(of: MetricFamily.participant, in: participant)
        try expectFields(of: MetricFamily.room, in: RoomSnapshot(id: "demo"))
    }

    private func expectFields<Subject: Encodable>(of families: [MetricFamily<Subject>], in subject: Subject) throws {
        let fields = families.compactMap(\.fieldName)
        #expect(fields.count >= 10)
        let document = try JSONSerialization.jsonObject(with: JSONEncoder().encode(subject))
        for field in fields {
            let value = field.split(separator: ".").reduce(document as Any?) {
                ($0 as? [String: Any])?[String($1)]
            }
            #expect(value != nil, "there is no \(field)")
        }
    }

    /// The table; with the fields of the JSON where the subject is in it.
    private static func rows<Subject>(_ families: [MetricFamily<Subject>]) -> [String] {
        guard Subject.self != ServerReport.self else {
            return ["| name | meaning |", "| --- | --- |"] + families.map { "| `\($0.name)` | \($0.meaning) |" }
        }
        return ["| name | field | meaning |", "| --- | --- | --- |"]
            + families.map { family in
                "| `\(family.name)` | \(family.fieldName.map { "`\($0)`" } ?? "") | \(family.meaning) |"
            }
    }
}

extension MetricFamily {
    /// The path of the field in JSON.
    fileprivate var fieldName: String? {
        field.map { path in "\(path)".split(separator: ".").dropFirst().joined(separator: ".") }
    }
}
