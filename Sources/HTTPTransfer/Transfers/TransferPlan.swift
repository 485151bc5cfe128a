import MediaCore

/// A request as the thread gets it.
struct TransferPlan: Sendable {
    let id: UInt64
    let client: UInt64
    let request: HTTPClient.Request
    let connectTime: Duration
    let tls: HTTPClient.TLS
    /// The end of the request; of one whose answer is read in parts, of the wait for its head.
    let deadline: MonotonicInstant
    let receiver: AnswerReceiver

    /// Where it waits for others.
    let lane: TransferLane

    init(
        id: UInt64, client: UInt64, request: HTTPClient.Request, connectTime: Duration, tls: HTTPClient.TLS,
        deadline: MonotonicInstant, receiver: AnswerReceiver
    ) {
        self.id = id
        self.client = client
        self.request = request
        self.connectTime = connectTime
        self.tls = tls
        self.deadline = deadline
        self.receiver = receiver
        lane = TransferLane(client: client, url: request.url)
    }
}

/// A client's requests to one server.
struct TransferLane: Hashable, Sendable {
    var client: UInt64
    /// The URL without what follows the host and port.
    var server: String

    init(client: UInt64, url: String) {
        self.client = client
        let parts = url.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        server = "\(parts.first ?? "")//\(parts.count == 3 ? parts[2].prefix { !"/?#".contains($0) } : "")"
    }
}

/// Who gets an answer.
enum AnswerReceiver: Sendable {
    /// What a body is good for.
    enum Body: Sendable {
        case needed(upTo: Int)
        /// It is read so that the connection can be used again.
        case unneeded
    }

    /// Called once, on the thread of transfers.
    case whole(Body, completion: @Sendable (Result<HTTPClient.Answer, HTTPFailure>) -> Void)
    case parts(PartsPipe)

    func fail(_ failure: HTTPFailure) {
        switch self {
        case .whole(_, let completion): completion(.failure(failure))
        case .parts(let pipe): pipe.finish(.failure(failure))
        }
    }
}

/// What the thread is asked for.
enum TransferOrder: Sendable {
    case begin(TransferPlan)
    /// The one who waits was cancelled, or reads no more.
    case end(UInt64)
    /// The reader of an answer's parts has room again.
    case goOn(UInt64)
    case endAll(client: UInt64)
}
