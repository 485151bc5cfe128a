import CLibCURL
import MediaCore

/// One request and its answer, on the thread of transfers.
final class Transfer {
    let plan: TransferPlan
    /// `CURL *`.
    let easy: UnsafeMutableRawPointer
    private(set) var deadline: MonotonicInstant
    /// Whether libcurl works on it; if not, it waits for others.
    var isRunning = false
    /// Lists that libcurl reads for as long as the handle lives.
    var lists: [UnsafeMutablePointer<curl_slist>] = []
    private let errorText = UnsafeMutableBufferPointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    private var head = AnswerHead()
    private var body: [UInt8] = []
    /// Bytes of a body that nobody needs.
    private var bytesUnneeded = 0
    /// Why a callback has ended the transfer.
    private var failure: HTTPFailure?
    private var isSent = false

    /// A body that nobody needs is read up to this size.
    private static let mostUnneeded = 64 << 10

    /// - Throws: Why the request cannot be sent at all.
    init(_ plan: TransferPlan) throws(HTTPFailure) {
        guard let easy = curl_easy_init() else { throw .failed("libcurl has no memory") }
        self.plan = plan
        self.easy = easy
        deadline = plan.deadline
        errorText.initialize(repeating: 0)
        try configure(errorText: errorText)
        setCallbacks()
    }

    deinit {
        curl_easy_cleanup(easy)
        for list in lists { curl_slist_free_all(list) }
        errorText.deallocate()
    }

    /// The reader has room again.
    func goOn() {
        shim_curl_easy_continue(easy)
    }

    /// Tells the receiver the end.
    func finish(_ failure: HTTPFailure?) {
        switch plan.receiver {
        case .parts(let pipe): pipe.finish(failure.map { .failure($0) } ?? .success(()))
        case .whole(let use, let completion):
            let answer = HTTPClient.Answer(head: HTTPClient.Head(status: status, fields: head.fields), body: body)
            if case .unneeded = use, head.isComplete { return completion(.success(answer)) }
            completion(failure.map { .failure($0) } ?? .success(answer))
        }
    }

    /// What libcurl's result means; nil: the answer is complete.
    func failure(of result: CURLcode) -> HTTPFailure? {
        failure ?? HTTPFailure(result, reason: libraryReason, code: systemCode, url: plan.request.url)
    }

    private var status: Int { shim_curl_easy_getinfo_long(easy, CURLINFO_RESPONSE_CODE) }

    private var systemCode: Int32 { Int32(clamping: shim_curl_easy_getinfo_long(easy, CURLINFO_OS_ERRNO)) }

    private var libraryReason: String { errorText.baseAddress.map { String(cString: $0) } ?? "" }

    // MARK: Callbacks

    private func setCallbacks() {
        let context = Unmanaged.passUnretained(self).toOpaque()
        shim_curl_easy_setopt_pointer(easy, CURLOPT_PRIVATE, context)
        shim_curl_easy_setopt_pointer(easy, CURLOPT_WRITEDATA, context)
        shim_curl_easy_setopt_pointer(easy, CURLOPT_HEADERDATA, context)
        shim_curl_easy_setopt_pointer(easy, CURLOPT_PREREQDATA, context)
        shim_curl_easy_setopt_receiver(easy, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
            Transfer.at(context).receiveLine(UnsafeRawBufferPointer(start: bytes, count: size * count))
                ? size * count : 0
        }
        shim_curl_easy_setopt_receiver(easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
            switch Transfer.at(context).receive(UnsafeRawBufferPointer(start: bytes, count: size * count)) {
            case .taken: size * count
            case .full: shim_CURL_WRITEFUNC_PAUSE()
            case .refused: 0
            }
        }
        shim_curl_easy_setopt_prerequest(easy) { context, _, _, _, _ in
            Transfer.at(context).maySend() ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
        }
    }

    private static func at(_ context: UnsafeMutableRawPointer?) -> Transfer {
        guard let context else { preconditionFailure("libcurl has lost a transfer's context") }
        return Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    }

    /// Whether the request may be sent. libcurl sends it again if a connection that it has kept turns out to be closed,
    /// though the server may have got it: nothing that changes a thing is done twice.
    private func maySend() -> Bool {
        guard !isSent || plan.request.method == .get else {
            failure = .connectionClosed
            return false
        }
        isSent = true
        return true
    }

    /// - Returns: False: the answer is not wanted any more.
    private func receiveLine(_ line: UnsafeRawBufferPointer) -> Bool {
        switch head.append(line, status: status) {
        case .more: break
        case .tooLong:
            failure = .failed("the head of its answer is too long")
            return false
        case .complete:
            guard case .parts(let pipe) = plan.receiver else { break }
            deadline = .distantFuture
            pipe.begin(HTTPClient.Head(status: status, fields: head.fields))
        }
        return true
    }

    private enum Reception {
        case taken, full, refused
    }

    private func receive(_ part: UnsafeRawBufferPointer) -> Reception {
        switch plan.receiver {
        case .parts(let pipe): return pipe.append(part) ? .taken : .full
        case .whole(.unneeded, _):
            bytesUnneeded += part.count
            return bytesUnneeded <= Self.mostUnneeded ? .taken : .refused
        case .whole(.needed(let longest), _):
            guard part.count <= longest - body.count else {
                failure = .answerTooLong
                return .refused
            }
            body.append(contentsOf: part)
            return .taken
        }
    }
}
