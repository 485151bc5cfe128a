import Foundation
import Logging
import MediaCore

/// Tells Agones how this relay, one of its game servers, is: ready, allocated while people are here, which keeps it
/// from being taken away, and healthy. It speaks the REST interface of the SDK server that runs beside it (agones.dev,
/// "REST Game Server Client API").
struct AgonesReporter: Sendable {
    /// What Agones is told.
    enum Message: String, Sendable {
        case ready, allocate, health, shutdown
    }

    /// How often it is told that the relay lives. Agones expects that every 5 s by default.
    private static let interval = Duration.seconds(2)
    private static let usualPort = "9358"

    private let transport: any WebhookTransport
    private let url: String
    private let logger: Logger
    private var told: Message?
    private var isFailing = false

    /// - Parameter environment: Has the port of the SDK server, as Agones sets it.
    init(environment: [String: String], transport: any WebhookTransport, logger: Logger) {
        url = "http://localhost:\(environment["AGONES_SDK_HTTP_PORT"] ?? Self.usualPort)"
        self.transport = transport
        self.logger = logger
    }

    /// Tells how the relay is until the task is cancelled, and then that it ends.
    ///
    /// - Parameter participants: Returns how many people are here.
    mutating func run(participants: @Sendable () async -> Int) async {
        repeat {
            await tell(participants: await participants())
        } while (try? await Task.sleep(for: Self.interval)) != nil
        await end()
    }

    /// Tells how the relay is, where that has changed, and that it lives.
    mutating func tell(participants: Int) async {
        let state = participants > 0 ? Message.allocate : .ready
        // The SDK server may start later than the relay.
        if told != state, await post(state) { told = state }
        _ = await post(.health)
    }

    /// Tells that the relay ends.
    func end() async {
        // A task of its own: a request in this one, which is cancelled, would fail.
        await Task { [transport, url] in
            _ = try? await transport.post(Array("{}".utf8), to: "\(url)/\(Message.shutdown.rawValue)", fields: [])
        }.value(within: EventOutputs.lastMoment)
        await transport.close()
    }

    private mutating func post(_ message: Message) async -> Bool {
        var failure: String?
        do {
            let status = try await transport.post(Array("{}".utf8), to: "\(url)/\(message.rawValue)", fields: [])
            if !(200..<300).contains(status) { failure = "it answers \(status)" }
        } catch {
            failure = "\(error)"
        }
        if let failure, !isFailing, !Task.isCancelled {
            logger.warning("Agones is not told how the relay is: \(failure)", metadata: ["url": "\(url)"])
        }
        isFailing = failure != nil
        return failure == nil
    }
}
