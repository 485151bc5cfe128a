import HTTPTransfer

/// Posts to webhooks by HTTP, on a thread that no media passes.
struct WebhookClient: WebhookTransport {
    private let client = HTTPClient(connectingWithin: .seconds(5))

    private static let timeout = Duration.seconds(10)

    func post(_ body: [UInt8], to url: String, fields: [(name: String, value: String)]) async throws -> Int {
        var request = HTTPClient.Request(.post, url)
        request.add("Content-Type", "application/json")
        request.add("User-Agent", "confrelay/\(RelayVersion.current)")
        for (name, value) in fields { request.add(name, value) }
        request.body = body
        return try await client.status(of: request, within: Self.timeout)
    }

    func close() async { await client.close() }
}
