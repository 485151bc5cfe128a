public import ArgumentParser
import Foundation
import RelayServer
public import RoomAPI

/// `confrelay token`: makes a token that lets its bearer into a room.
struct TokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "confrelay token",
        abstract: "Make a token that lets its bearer into a room of a relay with --auth-keys.",
        discussion: """
            confrelay token --auth-keys keys.json --room demo --name Ada --role moderator --valid 2h

            Prints the token. Programs send it as Authorization: Bearer; people open the room's link with #token=… \
            behind it (--link prints that). What each role may do: docs/access.md.
            """)

    @Option(help: ArgumentHelp("The file of keys, as the relay has it, with a key that can sign.", valueName: "file"))
    var authKeys: String

    @Option(help: ArgumentHelp("Id of the key to sign with; by default the first that can.", valueName: "id"))
    var key: String?

    @Option(help: ArgumentHelp("The room; * stands for any characters, so 'team-*' is for several.", valueName: "name"))
    var room: String

    @Option(help: "moderator, presenter, participant, viewer or recorder.")
    var role = AccessRole.participant

    @Option(
        help: ArgumentHelp(
            "What the bearer is called in the room; by default as they say themselves.", valueName: "name"))
    var name: String?

    @Option(
        help: ArgumentHelp(
            "Who the bearer is, however they are called: keeps them out after they were removed.", valueName: "id"))
    var identity: String?

    @Option(
        help: ArgumentHelp("How long the token is good: 90s, 15m, 2h or 30d. (default: 2h)", valueName: "time"),
        transform: TokenCommand.seconds)
    var valid = 7200.0

    @Option(
        help: ArgumentHelp("Time until the token is good: 0s, 10m, 1d. (default: at once)", valueName: "time"),
        transform: TokenCommand.seconds)
    var after = 0.0

    @Option(
        help: ArgumentHelp(
            "What the bearer may send: camera, microphone, screen or none; by default as the role; repeatable.",
            valueName: "medium"))
    var publish: [String] = []

    @Flag(inversion: .prefixedNo, help: "Whether the bearer may watch; by default as the role.")
    var watch: Bool?

    @Flag(inversion: .prefixedNo, help: "Whether the bearer may moderate; by default as the role.")
    var moderate: Bool?

    @Flag(inversion: .prefixedNo, help: "Whether the bearer may record; by default as the role.")
    var record: Bool?

    @Flag(
        inversion: .prefixedNo, help: "Whether others are not told of the bearer; by default only recorders are hidden."
    )
    var hidden: Bool?

    @Flag(help: "The token lets one session in, once.")
    var once = false

    @Option(help: ArgumentHelp("Print the room's link at this address, with the token in it.", valueName: "url"))
    var link: String?

    /// Reads a time such as `2h`.
    static func seconds(_ text: String) throws -> Double {
        let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        guard let unit = text.last.flatMap({ units[$0] }), let number = Int(text.dropLast()), number >= 0,
            Double(number) * unit <= 10 * 366 * 86_400
        else { throw ValidationError("give a time of at most ten years, such as 90s, 15m, 2h or 30d") }
        return Double(number) * unit
    }

    private static let media: [String: Permission] = ["camera": .camera, "microphone": .microphone, "screen": .screen]

    func validate() throws {
        guard (1...64).contains(room.utf8.count),
            room.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "/") })
        else { throw ValidationError("--room must be a room's name, or a pattern such as 'team-*'") }
        guard claims(time: 0, id: "").hasAcceptableName else {
            throw ValidationError("--name must have 1 to 64 visible characters: with another nobody could join")
        }
        guard valid > 0 else { throw ValidationError("--valid must be longer than nothing") }
        for medium in publish where medium != "none" && Self.media[medium] == nil {
            throw ValidationError("--publish \(medium) is not possible: give camera, microphone, screen or none")
        }
        guard let link else { return }
        guard link.hasPrefix("http://") || link.hasPrefix("https://") else {
            throw ValidationError("--link \(link) is not possible: give the relay's URL, such as https://relay.example")
        }
        guard !room.contains("*") else {
            throw ValidationError("--link is for one room, and --room is a pattern")
        }
    }

    /// The token's claims.
    func claims(time: Double, id: String) -> AccessClaims {
        var claims = AccessClaims(room: room, role: role)
        claims.identity = identity
        claims.name = name
        claims.publish = publish.isEmpty ? nil : publish.compactMap { Self.media[$0] }
        claims.watch = watch
        claims.moderate = moderate
        claims.record = record
        claims.hidden = hidden
        claims.issuedAt = time.rounded(.down)
        claims.notBefore = after > 0 ? (time + after).rounded(.down) : nil
        claims.expiry = (time + after + valid).rounded(.up)
        claims.id = id
        claims.isSingleUse = once ? true : nil
        return claims
    }

    func run() throws {
        let token: String
        do throws(AccessKeys.Failure) {
            token = try AccessKeys(file: authKeys).sign(
                claims(time: Date.now.timeIntervalSince1970, id: UUID().uuidString.lowercased()), key: key)
        } catch {
            throw CommandFailure(.noInput, "\(authKeys): \(error.description)")
        }
        guard let link else {
            try StandardStreams.write(token + "\n")
            return
        }
        let base = link.hasSuffix("/") ? String(link.dropLast()) : link
        try StandardStreams.write("\(base)/rooms/\(room)#token=\(token)\n")
    }
}

extension AccessRole: ExpressibleByArgument {}
