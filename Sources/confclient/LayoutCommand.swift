import ArgumentParser
import Compositing
import ConferenceClient
import Foundation
import RoomAPI

struct LayoutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "layout", abstract: "Show or change the layout of a room, or of one participant's picture.",
        discussion: """
            Without a change, shows the present choices (--json for programs). Settings that are not given stay. NAME \
            is a participant's name in the room, or its id.

            confclient layout URL speaker                   everyone sees the speaker large
            confclient layout URL pinned --participant Ada  everyone sees Ada large
            confclient layout URL solo --participant Ben --for Ada       Ada sees Ben alone
            confclient layout URL --for Ada --hide Cy --self-view always
            confclient layout URL --for Ada room            Ada sees the layout of the room
            confclient layout URL --template lecture.json   see docs/templates.md
            """)

    @OptionGroup var room: RoomArgument

    @Argument(help: "Layout; with --for also room, the room's own.")
    var layout: LayoutArgument?

    @Option(help: ArgumentHelp("Participant that pinned and solo show.", valueName: "NAME"))
    var participant: String?

    @Option(name: .customLong("for"), help: ArgumentHelp("Change this participant's view only.", valueName: "NAME"))
    var receiver: String?

    @Option(help: ArgumentHelp("Leave a participant out of the picture; repeatable.", valueName: "NAME"))
    var hide: [String] = []

    @Option(help: ArgumentHelp("Show a hidden participant again; repeatable.", valueName: "NAME"))
    var unhide: [String] = []

    @Option(help: "With --for: the participant sees its own camera always or never.")
    var selfView: SelfViewArgument?

    @Option(help: "Show cameras whole between bars (contain), or fill their tiles (cover).")
    var fit: FitArgument?

    @Option(help: ArgumentHelp("File with a custom layout, as JSON.", valueName: "FILE.json"))
    var template: String?

    @Flag(help: "Drop all earlier choices first.")
    var reset = false

    @Flag(help: "Print the present choices as JSON.")
    var json = false

    func validate() throws {
        let isAboutSomebody = layout?.isAboutParticipant ?? false
        if isAboutSomebody, participant == nil {
            throw ValidationError("\(layout?.name ?? "") shows one participant: give it with --participant NAME")
        }
        if participant != nil, !isAboutSomebody {
            throw ValidationError("--participant is for the layouts pinned and solo: give one of them")
        }
        if template != nil, layout != nil {
            throw ValidationError("--template is a layout itself: give it or \(layout?.name ?? ""), not both")
        }
        if receiver == nil, selfView != nil {
            throw ValidationError("--self-view changes one participant's view: give the participant with --for NAME")
        }
        if receiver == nil, layout == .room {
            throw ValidationError("room gives one participant the room's layout: give the participant with --for NAME")
        }
    }

    func run() async throws {
        try await room.perform { controller in
            let change = try makeChange()
            guard change.isEmpty else {
                guard !json else { throw ClientError.usage(reason: "--json shows the choices: give no change") }
                return try await controller.apply(change)
            }
            let report = try await controller.report()
            guard !json else { return try Terminal.output(json: report) }
            for line in report.summary { try Terminal.output(line) }
        }
    }

    private func makeChange() throws(ClientError) -> LayoutChange {
        var change = LayoutChange()
        change.receiver = receiver
        change.mode =
            try template.map { path throws(ClientError) in .layout(.template(try readTemplate(path))) }
            ?? layout?.mode(about: participant ?? "")
        change.fit = fit.map { $0 == .cover ? .cover : .contain }
        change.hidden = hide
        change.shown = unhide
        change.selfView = selfView.map { $0 == .always ? .always : .never }
        change.isReset = reset
        return change
    }

    private func readTemplate(_ path: String) throws(ClientError) -> LayoutTemplate {
        do {
            return try JSONDecoder().decode(LayoutTemplate.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
        } catch let error as LayoutTemplateError {
            throw .unreadableInput(path: path, reason: error.description)
        } catch is DecodingError {
            throw .unreadableInput(path: path, reason: "it is not JSON")
        } catch {
            throw .unreadableInput(path: path, reason: "it cannot be read")
        }
    }
}

/// A built-in layout, or the room's.
enum LayoutArgument: ExpressibleByArgument, Equatable {
    case builtIn(LayoutMode.Name)
    case room

    private static let roomName = "room"

    static var allValueStrings: [String] { LayoutMode.Name.builtIn.map(\.rawValue) + [roomName] }

    init?(argument: String) {
        guard Self.allValueStrings.contains(argument) else { return nil }
        self = LayoutMode.Name(rawValue: argument).map(Self.builtIn) ?? .room
    }

    var name: String {
        switch self {
        case .builtIn(let name): name.rawValue
        case .room: Self.roomName
        }
    }

    var isAboutParticipant: Bool {
        if case .builtIn(let name) = self { name.isAboutParticipant } else { false }
    }

    func mode(about participant: String) -> LayoutChange.Mode? {
        switch self {
        case .builtIn(let name): LayoutMode(name, participant: participant).map(LayoutChange.Mode.layout)
        case .room: .room
        }
    }
}

enum FitArgument: String, ExpressibleByArgument, CaseIterable {
    case contain, cover
}
