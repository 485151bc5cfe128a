import ArgumentParser
import ConferenceClient
import RoomAPI

struct ModerateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "moderate", abstract: "Mute, remove, admit and promote people; lock a room, or end it.",
        discussion: """
            Takes a moderator's key (the first member of a room gets it), or a moderator's token, with \
            --token. People are named as they are called in the room, or by their ids.

            confclient moderate URL --token KEY mute Ada          nobody hears her
            confclient moderate URL --token KEY ask-to-unmute Ada she may unmute herself
            confclient moderate URL --token KEY remove Ben        --may-return: not for good
            confclient moderate URL --token KEY lobby-on          lobby [--json] lists who waits
            confclient moderate URL --token KEY admit Cy
            confclient moderate URL --token KEY pin 271828        pin-off takes it away
            """)

    @OptionGroup
    var room: RoomArgument

    @Argument(help: "What to do.")
    var action: Action

    @Argument(help: ArgumentHelp("Whom it is about, or the PIN.", valueName: "name"))
    var subject: String?

    @Flag(help: "With remove: they may come back.")
    var mayReturn = false

    @Flag(help: "With lobby: print JSON.")
    var json = false

    enum Action: String, CaseIterable, ExpressibleByArgument {
        case mute, unmute, remove, presenter, participant, spotlight, admit, refuse, pin, lock, unlock, lobby, end
        case askToUnmute = "ask-to-unmute"
        case cameraOff = "camera-off"
        case cameraOn = "camera-on"
        case spotlightOff = "spotlight-off"
        case lowerHands = "lower-hands"
        case lobbyOn = "lobby-on"
        case lobbyOff = "lobby-off"
        case pinOff = "pin-off"

        var takesSubject: Bool {
            switch self {
            case .mute, .unmute, .remove, .presenter, .participant, .spotlight, .admit, .refuse, .pin, .askToUnmute,
                .cameraOff, .cameraOn:
                true
            case .lock, .unlock, .lobby, .end, .spotlightOff, .lowerHands, .lobbyOn, .lobbyOff, .pinOff: false
            }
        }
    }

    func validate() throws {
        guard action.takesSubject == (subject != nil) else {
            let wanted = action == .pin ? "a PIN such as 271828" : "a name such as Ada"
            throw ValidationError(
                action.takesSubject
                    ? "\(action.rawValue) needs \(wanted) behind it" : "\(action.rawValue) takes nothing behind it")
        }
        // The relay takes an empty PIN for none: an unset variable of a script would open the room.
        guard action != .pin || subject != "" else {
            throw ValidationError("the PIN is empty; pin-off takes the room's PIN away")
        }
        guard !mayReturn || action == .remove else { throw ValidationError("--may-return is for remove") }
        guard !json || action == .lobby else { throw ValidationError("--json is for lobby") }
    }

    func run() async throws {
        try await room.perform { controller in
            if let request = request(about: subject ?? "") { return try await controller.moderate(request) }
            let people = try await controller.waiting()
            guard !json else { return try Terminal.output(json: ["waiting": people]) }
            for person in people { try Terminal.output("\(person.name) (\(person.id))") }
        }
    }

    /// Nil: the lobby is to be shown.
    private func request(about name: String) -> RoomController.Moderation? {
        switch action {
        case .mute: .member(MemberModeration(microphone: .muted), name: name)
        case .unmute: .member(MemberModeration(microphone: .allowed), name: name)
        case .askToUnmute: .member(MemberModeration(microphone: .askedToUnmute), name: name)
        case .cameraOff: .member(MemberModeration(camera: .off), name: name)
        case .cameraOn: .member(MemberModeration(camera: .allowed), name: name)
        case .presenter: .member(MemberModeration(role: .presenter), name: name)
        case .participant: .member(MemberModeration(role: .participant), name: name)
        case .remove: .remove(name: name, mayReturn: mayReturn)
        case .spotlight: .spotlight(name: name)
        case .spotlightOff: .spotlight(name: nil)
        case .lowerHands: .lowerHands
        case .lock: .entry(RoomEntry(locked: true))
        case .unlock: .entry(RoomEntry(locked: false))
        case .lobbyOn: .entry(RoomEntry(lobby: true))
        case .lobbyOff: .entry(RoomEntry(lobby: false))
        case .pin: .entry(RoomEntry(pin: name))
        case .pinOff: .entry(RoomEntry(pin: ""))
        case .admit: .answer(name: name, isAdmitted: true)
        case .refuse: .answer(name: name, isAdmitted: false)
        case .end: .end
        case .lobby: nil
        }
    }
}
