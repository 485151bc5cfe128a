import ArgumentParser
import Compositing
import ConferenceClient
import Foundation
import NIOPosix
import RoomAPI

struct LayoutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "layout", abstract: "Look at and change how a room, or one participant's picture, is laid out.",
        discussion: """
            Without anything to change, shows what is chosen now. What is not named stays as it is. People are named as they \
            are called in the room, or by their ids.

            confclient layout URL speaker                     everyone sees who speaks large
            confclient layout URL pinned --participant Ada    everyone sees Ada large
            confclient layout URL solo --participant Ben --for Ada     Ada sees Ben alone
            confclient layout URL --for Ada --hide Cy --self-view always
            confclient layout URL --for Ada room              Ada sees the room's layout again
            confclient layout URL --template lecture.json     a layout of one's own (docs/templates.md)
            """)

    @Argument(help: "The room, such as http://127.0.0.1:7000/rooms/demo.")
    var url: String

    @Argument(
        help:
            "grid, speaker, side-by-side, picture-in-picture, presentation, pinned or solo; with --for also room: as the room."
    )
    var layout: LayoutArgument?

    @Option(help: ArgumentHelp("Whom pinned and solo are about.", valueName: "NAME"))
    var participant: String?

    @Option(name: .customLong("for"), help: ArgumentHelp("Change only what this one sees.", valueName: "NAME"))
    var receiver: String?

    @Option(help: ArgumentHelp("Leave someone out of the picture; they are heard all the same.", valueName: "NAME"))
    var hide: [String] = []

    @Option(help: ArgumentHelp("Show someone again.", valueName: "NAME"))
    var unhide: [String] = []

    @Option(help: "With --for: whether they see themselves: always or never.")
    var selfView: SelfViewArgument?

    @Option(help: "Whether cameras are seen whole between bars (contain) or fill their tiles (cover).")
    var fit: FitArgument?

    @Option(help: ArgumentHelp("A layout of one's own, as JSON.", valueName: "FILE.json"))
    var template: String?

    @Flag(help: "Give up all that was chosen before, first.")
    var reset = false

    func validate() throws {
        do {
            _ = try RoomURL(url)
        } catch {
            throw ValidationError(error.description)
        }
        let isAboutSomebody = layout?.isAboutParticipant ?? false
        if isAboutSomebody, participant == nil {
            throw ValidationError("\(layout?.name ?? "") is about someone: say whom with --participant NAME")
        }
        if participant != nil, !isAboutSomebody {
            throw ValidationError("--participant says whom pinned and solo are about; give one of these layouts")
        }
        if template != nil, layout != nil {
            throw ValidationError("--template is a layout of its own; give it or \(layout?.name ?? ""), not both")
        }
        if receiver == nil, selfView != nil {
            throw ValidationError("--self-view is for one participant; say whose with --for NAME")
        }
        if receiver == nil, layout == .room {
            throw ValidationError("room is for one participant, who then sees what all see; say who with --for NAME")
        }
    }

    func run() async throws {
        let terminal = Terminal(isQuiet: false)
        do {
            let change = try makeChange()
            let controller = RoomController(url: try RoomURL(url), on: MultiThreadedEventLoopGroup.singleton.next())
            guard change.isEmpty else {
                try await controller.apply(change)
                return
            }
            terminal.summarize(try await controller.report().summary)
        } catch let error as ClientError {
            terminal.fail(error.description)
            throw ExitCode(error.exitCode)
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
            throw .unreadableInput(path: path, reason: "it cannot be read: \(error.localizedDescription)")
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
