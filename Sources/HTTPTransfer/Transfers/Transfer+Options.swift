import CLibCURL
import MediaCore

extension Transfer {
    /// Seconds without data after which the system asks whether the peer still lives, and between such questions.
    private static let keepAliveTime = 30
    private static let keepAliveInterval = 10

    /// Sets everything but the callbacks.
    func configure(errorText: UnsafeMutableBufferPointer<CChar>) throws(HTTPFailure) {
        let request = plan.request
        try check(request)
        try set(CURLOPT_ERRORBUFFER, pointer: errorText.baseAddress)
        try set(CURLOPT_URL, request.url)
        try set(CURLOPT_PROTOCOLS_STR, "http,https")
        try set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
        // Nothing of the environment: $http_proxy is for the programs of people.
        try set(CURLOPT_PROXY, "")
        // Signed URLs hold as they are.
        try set(CURLOPT_PATH_AS_IS, 1)
        // Signals would reach other threads.
        try set(CURLOPT_NOSIGNAL, 1)
        // A look at a name that does not end is left alone; libcurl would wait for it, and all transfers with it.
        try set(CURLOPT_QUICK_EXIT, 1)
        // A name may lead to another address at any time.
        try set(CURLOPT_DNS_CACHE_TIMEOUT, 0)
        try set(CURLOPT_CONNECTTIMEOUT_MS, max(1, Int(clamping: plan.connectTime.nanoseconds / 1_000_000)))
        try set(CURLOPT_TCP_KEEPALIVE, 1)
        try set(CURLOPT_TCP_KEEPIDLE, Self.keepAliveTime)
        try set(CURLOPT_TCP_KEEPINTVL, Self.keepAliveInterval)
        if let address = request.address {
            // Of all hosts and ports, to this address and the same port.
            try set(CURLOPT_CONNECT_TO, list: ["::\(address.contains(":") ? "[\(address)]" : address):"])
        }
        if case .whole(.needed(let longest), _) = plan.receiver {
            try accept(shim_curl_easy_setopt_offset(easy, CURLOPT_MAXFILESIZE_LARGE, curl_off_t(max(1, longest))))
        }
        try setMethod(request)
        try set(CURLOPT_HTTPHEADER, list: Self.lines(request.fields))
        try setTLS(plan.tls)
    }

    private func setMethod(_ request: HTTPClient.Request) throws(HTTPFailure) {
        guard request.method != .get else { return try set(CURLOPT_HTTPGET, 1) }
        try set(CURLOPT_POST, 1)
        try accept(shim_curl_easy_setopt_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(request.body.count)))
        if request.body.isEmpty {
            // Without a pointer libcurl would ask for the body by a callback.
            try set(CURLOPT_COPYPOSTFIELDS, "")
        } else {
            try accept(
                request.body.withUnsafeBytes { bytes in
                    shim_curl_easy_setopt_pointer(
                        easy, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: bytes.baseAddress))
                })
        }
        if request.method != .post { try set(CURLOPT_CUSTOMREQUEST, request.method.rawValue) }
    }

    private func setTLS(_ tls: HTTPClient.TLS) throws(HTTPFailure) {
        try set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
        if let trusted = tls.trusted {
            try set(CURLOPT_CAINFO_BLOB, bytes: trusted)
            // The system's certificates, which would be trusted beside those.
            try accept(shim_curl_easy_setopt_string(easy, CURLOPT_CAPATH, nil))
        }
        if let certificate = tls.certificate { try set(CURLOPT_SSLCERT_BLOB, bytes: certificate) }
        if let key = tls.key { try set(CURLOPT_SSLKEY_BLOB, bytes: key) }
    }

    /// Checks what libcurl sends as it is.
    private func check(_ request: HTTPClient.Request) throws(HTTPFailure) {
        let isVisible = request.url.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
        let scheme = request.url.prefix { $0 != ":" }.lowercased()
        guard isVisible, scheme == "http" || scheme == "https" else {
            throw .failed("its URL must begin with http:// or https:// and have no spaces")
        }
        for field in request.fields {
            let isName = !field.name.isEmpty && field.name.utf8.allSatisfy { Self.nameBytes.contains($0) }
            let isValue = field.value.utf8.allSatisfy { $0 == 0x09 || $0 >= 0x20 && $0 != 0x7F }
            guard isName, isValue else { throw .failed("a field of the request has bytes that HTTP does not permit") }
        }
    }

    /// RFC 9110, 5.6.2.
    private static let nameBytes = Set(
        "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)

    /// The fields as libcurl has them, without those that it would add.
    private static func lines(_ fields: [HTTPClient.Field]) -> [String] {
        let names = Set(fields.map { $0.name.lowercased() })
        let unwanted = ["Accept", "Content-Type", "Expect", "User-Agent"].filter { !names.contains($0.lowercased()) }
        return fields.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" } + unwanted.map { "\($0):" }
    }

    // MARK: Options

    private func set(_ option: CURLoption, _ value: Int) throws(HTTPFailure) {
        try accept(shim_curl_easy_setopt_long(easy, option, value))
    }

    private func set(_ option: CURLoption, _ value: String) throws(HTTPFailure) {
        try accept(shim_curl_easy_setopt_string(easy, option, value))
    }

    private func set(_ option: CURLoption, pointer: UnsafeMutableRawPointer?) throws(HTTPFailure) {
        try accept(shim_curl_easy_setopt_pointer(easy, option, pointer))
    }

    private func set(_ option: CURLoption, bytes: [UInt8]) throws(HTTPFailure) {
        try accept(shim_curl_easy_setopt_blob(easy, option, bytes, bytes.count))
    }

    private func set(_ option: CURLoption, list lines: [String]) throws(HTTPFailure) {
        var list: UnsafeMutablePointer<curl_slist>?
        for line in lines {
            guard let longer = curl_slist_append(list, line) else {
                curl_slist_free_all(list)
                throw .failed("libcurl has no memory")
            }
            list = longer
        }
        guard let list else { return }
        lists.append(list)
        try set(option, pointer: list)
    }

    private func accept(_ result: CURLcode) throws(HTTPFailure) {
        guard result == CURLE_OK else { throw .failed(String(cString: curl_easy_strerror(result))) }
    }
}
