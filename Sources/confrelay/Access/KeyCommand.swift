public import ArgumentParser
public import RelayServer

/// `confrelay key`: makes a file with a key that tokens are signed with.
struct KeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "confrelay key",
        abstract: "Make a key that tokens are signed with, for confrelay --auth-keys.",
        discussion: """
            Prints a JSON Web Key Set (RFC 7517) with one key. To change keys without a break, put several into one \
            file: tokens name theirs by its id.

            confrelay key > keys.json && chmod 600 keys.json
            """)

    @Option(
        help: ArgumentHelp(
            "HS256 (one secret signs and checks), ES256 or EdDSA (a relay may have the public half alone).",
            discussion: "For a relay that only checks tokens, remove \"d\" from a key of the latter two."))
    var algorithm = AccessKeys.Algorithm.hs256

    @Option(help: ArgumentHelp("What the key is called in tokens.", valueName: "id"))
    var id = "main"

    func validate() throws {
        guard (1...64).contains(id.utf8.count), id.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw ValidationError("--id must be 1 to 64 visible ASCII characters")
        }
    }

    func run() throws {
        let file: String
        do {
            file = try AccessKeys.newFile(algorithm, id: id)
        } catch {
            throw CommandFailure(.internalFailure, "the key could not be made: \(error)")
        }
        try StandardStreams.write(file)
    }
}

extension AccessKeys.Algorithm: ExpressibleByArgument {}
