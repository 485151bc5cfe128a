import ArgumentParser
import ConferenceClient

/// The proof for a relay with `--auth-keys`, and the relay's own: the issuers of its certificate.
struct AccessOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Token, session key or moderator key for the relay; the room's link may have it as #token=… instead.",
            valueName: "token"))
    var token: String?

    @Option(
        help: ArgumentHelp(
            "Certificates (PEM) that the relay's is checked with, for https. Default: the system's.",
            valueName: "FILE.pem"))
    var ca: String?

    /// The room's address, with the token and the certificates.
    func roomURL(_ text: String) throws(ClientError) -> RoomURL {
        var url = try RoomURL(text)
        if let token { url.token = token }
        if let ca { try url.trust(certificatesIn: ca) }
        return url
    }
}
