import HTTPTypes
import MediaCore
import RoomAPI
import SecureTransport

/// Checks a room's PIN, of which only a slow hash is kept (scrypt, RFC 7914).
///
/// A PIN has few digits. The hash's cost, and the quotas of wrong ones, are what keeps it from being tried out. A right
/// one costs the hash once: a whole class joins at the full hour, and other rooms' PINs wait for each hash.
actor RoomPIN {
    /// The longest PIN in bytes of UTF-8.
    static let lengths = 4...64

    private static let saltSize = 16
    private static let hashSize = 32
    /// The records whose right PIN is recognised without the slow hash, the latest last.
    private static let maximumProven = 64

    typealias Hash = @Sendable (_ pin: [UInt8], _ salt: [UInt8]) -> [UInt8]?
    private let slowHash: Hash
    /// Under a secret that ends with the process.
    private let fastHash: KeyedHash
    private var proven: [(record: [UInt8], code: [UInt8])] = []

    /// - Parameter slowHash: 32 bytes; nil without memory.
    init(slowHash: @escaping Hash = { SecureHash.scrypt($0, salt: $1) }) {
        var generator = SystemRandomNumberGenerator()
        fastHash = KeyedHash(using: &generator)
        self.slowHash = slowHash
    }

    /// The hash of a PIN, behind its salt.
    func record(of pin: String) throws(Problem) -> [UInt8] {
        guard Self.lengths.contains(pin.utf8.count) else {
            let reason =
                "the PIN has \(pin.utf8.count) bytes; give \(Self.lengths.lowerBound) to \(Self.lengths.upperBound)"
            throw Problem(.unprocessableContent, reason, errors: [Problem.Mistake(path: "pin", reason: reason)])
        }
        var generator = SystemRandomNumberGenerator()
        let salt = (0..<Self.saltSize).map { _ in UInt8.random(in: 0...255, using: &generator) }
        return salt + (try hash(pin, salt: salt))
    }

    /// True if a PIN is the one of a record. Calls come one after another, so they take at most one processor.
    func matches(_ pin: String, record: [UInt8]) throws(Problem) -> Bool {
        guard Self.lengths.contains(pin.utf8.count), record.count == Self.saltSize + Self.hashSize else { return false }
        let code = fastHash.code(of: pin)
        if let code, let known = proven.first(where: { $0.record == record }),
            SecretComparison.areEqual(code, known.code)
        {
            return true
        }
        let hash = try hash(pin, salt: Array(record.prefix(Self.saltSize)))
        guard SecretComparison.areEqual(hash, Array(record.suffix(Self.hashSize))) else { return false }
        if let code { proven = proven.suffix(Self.maximumProven - 1) + [(record, code)] }
        return true
    }

    /// The same within quotas, which only wrong PINs use up. Each is counted before the next one is looked at, so that
    /// many at once are no way around.
    ///
    /// - Parameter counted: Where a wrong one counts. The first that is used up is told.
    /// - Throws: A problem with 429 where too many were wrong.
    func matches(
        _ pin: String, record: [UInt8], counting counted: [(RequestQuotas.Kind, RequestQuotas.Subject)],
        in quotas: RequestQuotas, now: @Sendable () -> MonotonicInstant
    ) throws(Problem) -> Bool {
        for (kind, subject) in counted {
            if let seconds = quotas.secondsToWait(kind, of: subject, now: now()) {
                throw Problem.tooManyRequests(kind, retryAfter: seconds)
            }
        }
        if try matches(pin, record: record) { return true }
        for (kind, subject) in counted { _ = quotas.take(kind, of: subject, now: now()) }
        return false
    }

    private func hash(_ pin: String, salt: [UInt8]) throws(Problem) -> [UInt8] {
        guard let hash = slowHash(Array(pin.utf8), salt) else {
            throw Problem(.internalServerError, "the PIN could not be hashed")
        }
        return hash
    }
}
