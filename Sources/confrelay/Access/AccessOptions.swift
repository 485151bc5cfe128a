import ArgumentParser
import RelayServer
import SecureTransport

/// Access to the relay: origins, keys, addresses.
struct AccessOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Let web pages of this origin use the relay, such as https://calls.example.org; repeatable.",
            discussion: """
                Pages of other sites are refused, so that none can use a relay on its visitors' machine or network. \
                Give the origin of a page that joins by WHIP or WHEP, and that of a reverse proxy that people use. \
                '*' lets every page in: only for a relay that everybody reaches anyway.
                """,
            valueName: "origin"))
    var allowOrigin: [String] = []

    @Option(
        help: ArgumentHelp(
            "Let only those in who bring a token that a key of this file signed.",
            discussion: """
                confrelay key > keys.json makes such a file, and confrelay token --auth-keys keys.json --room demo a \
                token. SIGHUP reads the file again. Without keys everybody who reaches the relay may join; whoever \
                begins a room is its moderator.
                """,
            valueName: "file"))
    var authKeys: String?

    @Option(
        help: ArgumentHelp(
            "Serve /metrics, rooms, debug views and draining at this address alone, such as 127.0.0.1:7001.",
            discussion: """
                Who reaches the address needs no token, also to read recordings. Without the option, the port of \
                --port serves them.
                """,
            valueName: "address:port"),
        transform: TransportAddress.init(listening:))
    var adminAddress: TransportAddress?

    var allowedOrigins: AllowedOrigins {
        if allowOrigin.contains("*") { return .any }
        return .only(allowOrigin.compactMap { try? WebOrigin(parsing: $0) })
    }

    func validate() throws {
        for origin in allowOrigin where origin != "*" {
            do {
                _ = try WebOrigin(parsing: origin)
            } catch {
                throw ValidationError("--allow-origin: \(error.description)")
            }
        }
    }
}
