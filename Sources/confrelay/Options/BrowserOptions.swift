import ArgumentParser
import RelayServer

/// The settings for browsers beyond the local machine.
struct BrowserOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Serve HTTPS with this certificate (PEM, followed by its chain).",
            discussion: "Browsers give camera and microphone only to pages from HTTPS or from this machine.",
            valueName: "file"))
    var tlsCertificate: String?

    @Option(help: ArgumentHelp("The certificate's private key (PEM, not encrypted).", valueName: "file"))
    var tlsKey: String?

    @Option(
        help: ArgumentHelp(
            "STUN or TURN server to announce to participants; may be given several times.",
            discussion: """
                stun:stun.example.org, or with credentials \
                'turn:turn.example.org?transport=udp&username=ada&credential=secret'. All participants learn them, and \
                the list of this machine's processes shows them; --ice-server-file keeps them out of that list.
                """,
            valueName: "url"),
        transform: ICEServer.init(option:))
    var iceServer: [ICEServer] = []

    @Option(
        help: ArgumentHelp(
            "File with such servers, one on each line; lines that begin with # are ignored.", valueName: "file"),
        transform: ICEServer.list(option:))
    var iceServerFile: [ICEServer] = []

    @Option(
        help: ArgumentHelp(
            "File with the secret that TURN servers share with this relay (coturn: static-auth-secret).",
            discussion: """
                Servers given without username and credential, such as turn:turn.example.org, then get credentials \
                made with it, for each participant, that expire after a day.
                """, valueName: "file"),
        transform: TURNSecret.init(option:))
    var turnSecret: TURNSecret?

    /// Both files; nil for plain HTTP.
    var tlsFiles: TLSFiles? {
        guard let tlsCertificate, let tlsKey else { return nil }
        return TLSFiles(certificate: tlsCertificate, key: tlsKey)
    }

    func validate() throws {
        if turnSecret == nil, let server = (iceServer + iceServerFile).first(where: \.lacksCredentials) {
            throw ValidationError(
                "the TURN server \(server.uri) needs a name and a password: give --turn-secret, or add "
                    + "\(server.uri.contains("?") ? "&" : "?")username=…&credential=… to its URI")
        }
        switch (tlsCertificate, tlsKey) {
        case (.some, nil): throw ValidationError("--tls-certificate needs its private key: give --tls-key as well")
        case (nil, .some): throw ValidationError("--tls-key needs its certificate: give --tls-certificate as well")
        default: break
        }
    }
}
