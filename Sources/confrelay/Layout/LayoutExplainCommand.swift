import ArgumentParser
import Compositing
import Foundation
import MediaCore
import RoomAPI

/// Shows a layout with imaginary participants.
struct LayoutExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Show which source each place of a layout gets, and why; optionally draw it.",
        discussion: """
            The layout is a JSON file with a template (docs/templates.md), or the name of a built-in layout \
            (confrelay layout list).

            confrelay layout explain template.json --participants 7 -o out.png

            Exit codes: 0 done; 64 an option is wrong; 65 the template is wrong, with a line for each mistake; 66 a \
            file cannot be read; 73 the picture cannot be written.
            """)

    @Argument(help: ArgumentHelp("File of a template, or name of a built-in layout.", valueName: "layout"))
    var layout: String

    @Option(help: ArgumentHelp("Number of participants, 0 to 64.", valueName: "n"))
    var participants = 4

    @Option(help: ArgumentHelp("Number of screen shares, by the first participants; the newest last.", valueName: "n"))
    var screens = 0

    @Option(
        help: ArgumentHelp(
            "Number of the participant who speaks; given again, of the one who spoke before.", valueName: "number"))
    var speaker: [Int] = []

    @Option(help: ArgumentHelp("Number of the participant that pinned and solo show.", valueName: "number"))
    var participant = 1

    @Option(
        help: ArgumentHelp("Names of the first participants, such as Ada,Ben,Cy.", valueName: "names"))
    var names = ""

    @Option(help: "Shape of the cameras' pictures: landscape, portrait or 4:3.")
    var shape = LayoutPreview.Shape.landscape

    @Option(
        help: ArgumentHelp("Size of the canvas in pixels, both numbers even. (default: 1280x720)", valueName: "WxH"),
        transform: VideoDimensions.init(option:))
    var canvas = VideoDimensions(width: 1280, height: 720)

    @Option(help: ArgumentHelp("Folder of the images (*.png) that the template names.", valueName: "dir"))
    var images: String?

    @Option(name: .shortAndLong, help: ArgumentHelp("Draw the picture into this PNG file.", valueName: "file"))
    var output: String?

    @Flag(help: "Print JSON.")
    var json = false

    /// The largest size of a file; no valid template exceeds it.
    private static let templateSizeLimit = DataSize(bytes: 1 << 20)

    func validate() throws {
        guard (0...LayoutPreview.maximumCount).contains(participants) else {
            throw ValidationError(
                "--participants \(participants) is not possible: choose 0 to \(LayoutPreview.maximumCount)")
        }
        guard (0...participants).contains(screens) else {
            throw ValidationError(
                "--screens \(screens) is not possible: choose 0 to \(participants), the number of --participants")
        }
        for (option, number) in speaker.map({ ("--speaker", $0) }) + [("--participant", participant)]
        where number != 1 && !(1...max(participants, 1)).contains(number) {
            throw ValidationError(
                "\(option) \(number) is not possible: choose 1 to \(participants), the number of --participants")
        }
        try MediaOptions.check(canvas)
    }

    func run() throws { try StandardStreams.write(explain()) }

    /// Returns the text for standard output; the picture is in its file then.
    func explain(wallClock: Int64 = Int64(Date().timeIntervalSince1970)) throws(CommandFailure) -> String {
        let subject = try subject()
        let preview = LayoutPreview(
            participants: participants, screens: screens, speakers: speaker,
            names: names.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }, shape: shape)
        let report = LayoutReport(subject, preview: preview, canvas: canvas)
        if let output {
            guard let picture = preview.picture(of: subject.layout, canvas: canvas, wallClock: wallClock) else {
                throw CommandFailure(.internalFailure, "the layout could not be drawn")
            }
            do {
                try picture.writePNG(to: output)
            } catch {
                throw CommandFailure(.cannotCreate, error.description)
            }
        }
        return json ? report.json : report.text
    }

    private func subject() throws(CommandFailure) -> LayoutReport.Subject {
        if let mode = LayoutMode.Name(rawValue: layout).flatMap({ LayoutMode($0) }) {
            let subject = ParticipantID(rawValue: UInt64(participant))
            return LayoutReport.Subject(name: layout, layout: mode.layout(images: ImageLibrary()) { _ in subject })
        }
        let template = try template()
        var library = ImageLibrary()
        if let images {
            do {
                library = try ImageLibrary(folder: images)
            } catch {
                throw CommandFailure(.noInput, error.description)
            }
        }
        if let error = template.error(ofImagesIn: library) {
            let hint = images == nil ? ["--images names the folder that has the images"] : []
            throw CommandFailure(.dataError, error.issues.map { "\(layout): \($0.path): \($0.reason)" } + hint)
        }
        return LayoutReport.Subject(
            name: template.name.isEmpty ? layout : template.name, layout: .template(template, images: library),
            arrangementCount: template.arrangements.count)
    }

    private func template() throws(CommandFailure) -> LayoutTemplate {
        let data: Data
        do {
            data = try Data(contentsOf: URL(filePath: layout))
        } catch {
            let names = LayoutMode.Name.builtIn.map(\.rawValue).joined(separator: ", ")
            throw CommandFailure(
                .noInput, "\(layout) cannot be read as a file, and is none of the built-in layouts (\(names))")
        }
        guard data.count <= Self.templateSizeLimit.bytes else {
            throw CommandFailure(
                .dataError,
                "\(layout): a template of \(data.count) bytes is too large; make it at most "
                    + "\(Self.templateSizeLimit.bytes)")
        }
        do {
            return try JSONDecoder().decode(LayoutTemplate.self, from: data)
        } catch let error as LayoutTemplateError {
            throw CommandFailure(
                .dataError,
                error.issues.map { $0.path.isEmpty ? "\(layout): \($0.reason)" : "\(layout): \($0.path): \($0.reason)" }
            )
        } catch {
            throw CommandFailure(.dataError, "\(layout): this is not JSON\(Self.detail(of: error))")
        }
    }

    /// Returns the place at which the parser stopped, if it is known.
    private static func detail(of error: any Error) -> String {
        guard case DecodingError.dataCorrupted(let context) = error, let cause = context.underlyingError as NSError?,
            let text = cause.userInfo[NSDebugDescriptionErrorKey] as? String
        else { return "" }
        return ": \(text)"
    }
}
