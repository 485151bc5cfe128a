extension HTTPClient {
    /// What a server is asked for.
    public enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case delete = "DELETE"
    }

    /// A field of a request's or an answer's head.
    public struct Field: Hashable, Sendable {
        public var name: String
        public var value: String

        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// A request.
    public struct Request: Sendable {
        public var method: Method
        /// With `http` or `https`.
        public var url: String
        public var fields: [Field] = []
        public var body: [UInt8] = []
        /// The IP address that the request goes to, whatever the name in its URL leads to; nil: the name decides.
        public var address: String?

        public init(_ method: Method, _ url: String) {
            self.method = method
            self.url = url
        }

        /// Adds a field.
        public mutating func add(_ name: String, _ value: String) {
            fields.append(Field(name: name, value: value))
        }
    }

    /// The status and fields of an answer.
    public struct Head: Hashable, Sendable {
        public var status: Int
        public var fields: [Field]

        public init(status: Int, fields: [Field] = []) {
            self.status = status
            self.fields = fields
        }

        /// The values of all fields of a name, which may be in upper or lower case.
        public func values(of name: String) -> [String] {
            let name = name.lowercased()
            return fields.filter { $0.name.lowercased() == name }.map(\.value)
        }
    }

    /// An answer with all of its body.
    public struct Answer: Hashable, Sendable {
        public var head: Head
        public var body: [UInt8]

        public init(head: Head, body: [UInt8] = []) {
            self.head = head
            self.body = body
        }

        public var status: Int { head.status }

        /// True for a status from 200 to 299.
        public var isSuccess: Bool { (200..<300).contains(status) }
    }

    /// The certificates of connections by HTTPS, in PEM.
    public struct TLS: Hashable, Sendable {
        /// Those that a server's is checked with; nil: the system's.
        public var trusted: [UInt8]?
        /// The client's own, with those that lead to one that servers know; nil: none.
        public var certificate: [UInt8]?
        /// The key of the client's own, which must not be encrypted.
        public var key: [UInt8]?

        public init(trusted: [UInt8]? = nil, certificate: [UInt8]? = nil, key: [UInt8]? = nil) {
            self.trusted = trusted
            self.certificate = certificate
            self.key = key
        }
    }
}
