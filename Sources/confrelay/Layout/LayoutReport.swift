import Compositing
import Foundation
import MediaCore
import RelayServer
import RoomAPI

/// The explanation of a layout, as text or JSON.
struct LayoutReport {
    /// The layout in question.
    struct Subject {
        var name: String
        var layout: Layout
        /// The number of arrangements in its template; nil for a built-in layout.
        var arrangementCount: Int?
    }

    private let subject: Subject
    private let preview: LayoutPreview
    private let canvas: VideoDimensions
    private let explanation: LayoutExplanation
    private let issues: [CompositionIssue]

    init(_ subject: Subject, preview: LayoutPreview, canvas: VideoDimensions) {
        self.subject = subject
        self.preview = preview
        self.canvas = canvas
        explanation = subject.layout.explanation(of: preview.scene, canvas: canvas)
        let view = subject.layout.view(of: preview.scene, canvas: canvas)
        let instruction = CompositionInstruction(
            timeRange: .all, background: view.background, layers: view.layers, overlays: view.overlays)
        issues = CompositionPlan(canvas: canvas, instructions: [instruction]).validate()
    }

    // MARK: Text

    var text: String {
        var lines = [heading, ""]
        let rows = explanation.places.map { place in
            [
                place.name, place.rect.map { "\($0)" } ?? "-", place.source.map(name) ?? "-", place.reason,
            ]
        }
        lines += Self.table(rows)
        if rows.isEmpty { lines.append("nobody is shown") }
        if !explanation.notShown.isEmpty {
            lines += ["", "not shown: \(explanation.notShown.map(name).joined(separator: ", "))"]
        }
        if !issues.isEmpty {
            lines += ["", "to be looked at:"] + issues.map { "  \(description(of: $0))" }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private var heading: String {
        func count(_ number: Int, _ thing: String) -> String { "\(number) \(thing)\(number == 1 ? "" : "s")" }
        var heading = "\(subject.name) with \(count(preview.scene.cameras.count, "participant"))"
        if !preview.scene.presenters.isEmpty { heading += " and \(count(preview.scene.presenters.count, "screen"))" }
        heading += " on \(canvas)"
        guard let arrangements = subject.arrangementCount, arrangements != 1 else { return heading }
        let used = explanation.arrangement.map { "arrangements[\($0)] of \(arrangements) is used" }
        return "\(heading): \(used ?? "none of \(arrangements) arrangements is for them")"
    }

    private static func table(_ rows: [[String]]) -> [String] {
        let widths = (0..<3).map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            zip(row, widths + [0]).map { $0.padding(toLength: max($1, $0.count), withPad: " ", startingAt: 0) }
                .joined(separator: "  ")
        }
    }

    private func name(of source: SourceID) -> String {
        let name = preview.name(of: source.participant)
        return source.content == .screenShare ? "\(name)'s screen" : name
    }

    private func description(of issue: CompositionIssue) -> String { issue.description(naming: name) }

    // MARK: JSON

    private struct Document: Encodable {
        struct Size: Encodable {
            var width: Int
            var height: Int
        }

        struct Rect: Encodable {
            var x: Int
            var y: Int
            var width: Int
            var height: Int
        }

        struct Source: Encodable {
            var participant: UInt64
            var name: String
            var content: SourceContent
        }

        struct Place: Encodable {
            var name: String
            var rect: Rect?
            var source: Source?
            var reason: String
        }

        var layout: String
        var canvas: Size
        var arrangement: Int?
        var places: [Place]
        var notShown: [Source]
        var issues: [String]
    }

    var json: String {
        let document = Document(
            layout: subject.name, canvas: Document.Size(width: canvas.width, height: canvas.height),
            arrangement: explanation.arrangement,
            places: explanation.places.map { place in
                Document.Place(
                    name: place.name,
                    rect: place.rect.map { Document.Rect(x: $0.x, y: $0.y, width: $0.width, height: $0.height) },
                    source: place.source.map(documented), reason: place.reason)
            }, notShown: explanation.notShown.map(documented), issues: issues.map(description))
        // Numbers and strings alone, which JSON has.
        return (try? JSONEncoder.readable.encode(document)).map { String(decoding: $0, as: UTF8.self) + "\n" } ?? ""
    }

    private func documented(_ source: SourceID) -> Document.Source {
        Document.Source(
            participant: source.participant.rawValue, name: preview.name(of: source.participant),
            content: source.content)
    }
}
