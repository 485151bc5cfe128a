import MediaCore

/// A request as the thread gets it.
struct TransferPlan: Sendable {
    var id: UInt64
    var client: UInt64
    var request: HTTPClient.Request
    var connectTime: Duration
    var tls: HTTPClient.TLS
    /// The end of the request; of one whose answer is read in parts, of the wait for its head.
    var deadline: MonotonicInstant
    var receiver: AnswerReceiver
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
