import Cluster
import Foundation

/// The messages of etcd's JSON gateway (etcd 3.4, api/etcdserverpb/rpc.proto). Keys and values are Base64, 64-bit
/// numbers are strings, and zeros are left out.
enum Etcd {
    /// A 64-bit number: a string, as the gateway writes it, or a number.
    struct Number: Codable, Hashable {
        var value: Int64

        init(_ value: Int64) { self.value = value }

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                guard let number = Int64(text) else {
                    throw DecodingError.dataCorruptedError(in: container, debugDescription: "no number")
                }
                value = number
            } else {
                value = try container.decode(Int64.self)
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(String(value))
        }
    }

    struct Header: Decodable { var revision: Number? }

    struct KeyValue: Decodable {
        var key: Data
        var value: Data?
        var createRevision: Number?
        var modRevision: Number?

        private enum CodingKeys: String, CodingKey {
            case key, value
            case createRevision = "create_revision"
            case modRevision = "mod_revision"
        }

        var entry: DirectoryEntry? {
            guard let path = String(bytes: key, encoding: .utf8) else { return nil }
            return DirectoryEntry(
                path: path, value: Array(value ?? Data()), createRevision: createRevision?.value ?? 0)
        }
    }

    struct Failure: Decodable {
        var error: String?
        var message: String?
    }

    // MARK: Leases

    struct LeaseRequest: Encodable {
        var id: Number?
        var timeToLive: Number?

        private enum CodingKeys: String, CodingKey {
            case id = "ID"
            case timeToLive = "TTL"
        }
    }

    struct LeaseResponse: Decodable {
        var id: Number?
        /// Absent or not positive: there is no such lease.
        var timeToLive: Number?
        var error: String?

        private enum CodingKeys: String, CodingKey {
            case id = "ID"
            case timeToLive = "TTL"
            case error
        }
    }

    /// An answer of a stream.
    struct Streamed<Result: Decodable>: Decodable {
        var result: Result?
        var error: StreamFailure?
    }

    /// A failure that ends a stream after it has begun, so that the status of the answer is 200 all the same.
    struct StreamFailure: Decodable {
        var message: String?
        /// The code of gRPC: of etcd 3.6, and by its other name of those before.
        var code: Int?
        var formerCode: Int?

        private enum CodingKeys: String, CodingKey {
            case message, code
            case formerCode = "grpc_code"
        }

        /// UNKNOWN, DEADLINE_EXCEEDED, INTERNAL, UNAVAILABLE and DATA_LOSS, which have statuses from 500 on.
        private static let codesOfServer: Set<Int> = [2, 4, 13, 14, 15]

        var error: EtcdError {
            let reason = message ?? "a stream ended without a reason"
            guard let code = code ?? formerCode, Self.codesOfServer.contains(code) else { return .refused(reason) }
            return .failed(reason)
        }
    }

    // MARK: Keys

    struct RangeRequest: Encodable {
        var key: Data
        var rangeEnd: Data?
        var limit: Number?
        var revision: Number?

        private enum CodingKeys: String, CodingKey {
            case key
            case rangeEnd = "range_end"
            case limit, revision
        }
    }

    struct RangeResponse: Decodable {
        var header: Header?
        var kvs: [KeyValue]?
        var more: Bool?
    }

    struct PutRequest: Encodable {
        var key: Data
        var value: Data
        var lease: Number?
    }

    struct DeleteRequest: Encodable { var key: Data }

    struct Operation: Encodable {
        var requestRange: RangeRequest?
        var requestPut: PutRequest?
        var requestDeleteRange: DeleteRequest?

        private enum CodingKeys: String, CodingKey {
            case requestRange = "request_range"
            case requestPut = "request_put"
            case requestDeleteRange = "request_delete_range"
        }
    }

    struct Compare: Encodable {
        var key: Data
        var target = "CREATE"
        var result = "EQUAL"
        var createRevision: Number

        private enum CodingKeys: String, CodingKey {
            case key, target, result
            case createRevision = "create_revision"
        }
    }

    struct TransactionRequest: Encodable {
        var compare: [Compare]
        var success: [Operation]
        var failure: [Operation]

        init(_ transaction: DirectoryTransaction) {
            compare = transaction.conditions.map {
                Compare(key: Data($0.key.path.utf8), createRevision: Number($0.createRevision))
            }
            let reads = transaction.reads.map { key -> Operation in
                Operation(requestRange: RangeRequest(key: Data(key.path.utf8)))
            }
            // They are performed in their order: what is read is from before the changes.
            success =
                reads
                + transaction.changes.map { change in
                    switch change {
                    case .put(let key, let value, let lease):
                        Operation(
                            requestPut: PutRequest(
                                key: Data(key.path.utf8), value: Data(value),
                                lease: lease.map { Number($0.rawValue) }))
                    case .delete(let key):
                        Operation(requestDeleteRange: DeleteRequest(key: Data(key.path.utf8)))
                    }
                }
            failure = reads
        }
    }

    struct TransactionResponse: Decodable {
        struct Part: Decodable {
            var responseRange: RangeResponse?

            private enum CodingKeys: String, CodingKey { case responseRange = "response_range" }
        }

        var header: Header?
        var succeeded: Bool?
        var responses: [Part]?

        var response: DirectoryResponse {
            let read = (responses ?? []).flatMap { $0.responseRange?.kvs ?? [] }.compactMap(\.entry)
            guard succeeded == true else { return .conflict(read: read) }
            return .committed(revision: header?.revision?.value ?? 0, read: read)
        }
    }

    // MARK: Watches

    struct WatchRequest: Encodable {
        struct Create: Encodable {
            var key: Data
            var rangeEnd: Data
            var startRevision: Number

            private enum CodingKeys: String, CodingKey {
                case key
                case rangeEnd = "range_end"
                case startRevision = "start_revision"
            }
        }

        var createRequest: Create

        private enum CodingKeys: String, CodingKey { case createRequest = "create_request" }
    }

    struct WatchResponse: Decodable {
        struct Event: Decodable {
            /// Absent: PUT.
            var type: String?
            var kv: KeyValue?
        }

        var created: Bool?
        var canceled: Bool?
        var compactRevision: Number?
        var events: [Event]?

        private enum CodingKeys: String, CodingKey {
            case created, canceled, events
            case compactRevision = "compact_revision"
        }

        /// What it tells the directory.
        var news: [DirectoryNews] {
            if canceled == true { return [.ended(isIncomplete: (compactRevision?.value ?? 0) > 0)] }
            var news: [DirectoryNews] = created == true ? [.began] : []
            let events = (events ?? []).compactMap { event -> (DirectoryChange, Int64)? in
                guard let kv = event.kv, let entry = kv.entry else { return nil }
                let change: DirectoryChange = event.type == "DELETE" ? .deleted(path: entry.path) : .put(entry)
                return (change, kv.modRevision?.value ?? 0)
            }
            // The header's revision is the store's, of which a watch that catches up has not told everything.
            if let revision = events.map(\.1).max() { news.append(.changes(events.map(\.0), revision: revision)) }
            return news
        }
    }

    // MARK: Passwords

    struct AuthenticationRequest: Encodable {
        var name: String
        var password: String
    }

    struct AuthenticationResponse: Decodable { var token: String? }

    /// All keys of the cluster: the root and what begins with it.
    static let root = Data(DirectoryKey.root.utf8)
    /// The first key behind them: the root's last byte, and one more.
    static let rootEnd: Data = {
        var end = root
        if let last = end.indices.last { end[last] += 1 }
        return end
    }()
}
