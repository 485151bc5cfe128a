import ArgumentParser
import Foundation
import RelayServer

/// Webhooks and the event log.
struct EventOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "URL to post events to: rooms, joins, leaves, refusals, overload; may be given several times.",
            discussion: """
                Its fragment chooses: \
                https://example.org/hook#events=participantJoined,participantLeft&rooms=demo,sales-*. Requests are \
                signed (--webhook-secret), and repeated for an hour if the receiver does not take them. \
                docs/webhooks.md describes them.
                """, valueName: "url"),
        transform: WebhookEndpoint.init(option:))
    var webhook: [WebhookEndpoint] = []

    @Option(
        help: ArgumentHelp(
            "File with the keys that webhooks are signed with: an id and a secret a line.", valueName: "file"),
        transform: WebhookSigner.init(option:))
    var webhookSecret: WebhookSigner?

    @Option(
        help: ArgumentHelp(
            "Folder in which events wait for webhooks, also while the relay is down.",
            discussion: """
                By default the folder webhooks in $STATE_DIRECTORY, as systemd names it, or else in \
                confrelay of $XDG_STATE_HOME, by default ~/.local/state. Each relay of a machine needs its own.
                """, valueName: "DIR"))
    var webhookQueue: String?

    @Option(
        help: ArgumentHelp(
            "Write the same events to this file, a JSON object a line; SIGHUP opens it anew.", valueName: "file"))
    var eventLog: String?

    @Option(
        help: ArgumentHelp(
            "OpenTelemetry collector that gets traces of joins by OTLP over HTTP, such as http://localhost:4318.",
            discussion: "A trace has the request and the time until the client had connected.", valueName: "url"))
    var traceCollector: String?

    /// Where events wait.
    var queueFolder: String {
        if let webhookQueue { return webhookQueue }
        let environment = ProcessInfo.processInfo.environment
        // systemd separates several folders by colons.
        if let state = environment["STATE_DIRECTORY"]?.split(separator: ":").first { return "\(state)/webhooks" }
        let home = environment["XDG_STATE_HOME"] ?? NSHomeDirectory() + "/.local/state"
        return home + "/confrelay/webhooks"
    }

    private static let mostWebhooks = 8

    func validate() throws {
        guard webhook.isEmpty || webhookSecret != nil else {
            throw ValidationError(
                "--webhook needs a key to sign with: write an id and a secret into a file, such as 'key1 "
                    + "'$(openssl rand -hex 32), and name it with --webhook-secret")
        }
        guard webhook.count <= Self.mostWebhooks else {
            throw ValidationError(
                "there are \(webhook.count) webhooks: give --webhook at most \(Self.mostWebhooks) times")
        }
        if let traceCollector {
            let url = URL(string: traceCollector)
            guard ["http", "https"].contains(url?.scheme), url?.host()?.isEmpty == false else {
                throw ValidationError(
                    "--trace-collector \(traceCollector) is not possible: give a URL such as http://localhost:4318")
            }
        }
        guard Set(webhook.map(\.url)).count == webhook.count else {
            throw ValidationError("each --webhook needs its own URL")
        }
    }
}

extension WebhookEndpoint {
    /// Parses a URL with its filter.
    init(option text: String) throws {
        do {
            try self.init(parsing: text)
        } catch {
            throw ValidationError(error.description)
        }
    }
}

extension WebhookSigner {
    /// Reads the keys of a file.
    init(option path: String) throws {
        self = try NamedFile.value(of: path, as: WebhookSigner.init(parsing:))
    }
}
