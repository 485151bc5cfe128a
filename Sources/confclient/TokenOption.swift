import ArgumentParser
import ConferenceClient

/// The proof for a relay with `--auth-keys`.
struct TokenOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Token, session key or moderator key for the relay; the room's link may have it as #token=… instead.",
            valueName: "token"))
    var token: String?

    /// The room's address, with the token.
    func roomURL(_ text: String) throws(ClientError) -> RoomURL {
        var url = try RoomURL(text)
        if let token { url.token = token }
        return url
    }
}
