import HTTPTypes
import MediaCore
import SecureTransport
import Synchronization

/// Bounds how much one client, by its address or its token, may ask for, for all threads of the server.
final class RequestQuotas: Sendable {
    /// The clients whose requests are counted together.
    enum Subject: Hashable {
        case network(ClientNetwork)
        /// The identity that a token names.
        case identity(String)
        /// All requests about a room.
        case room(String)
    }

    /// The kinds of requests by their cost.
    enum Kind: Int, CaseIterable {
        /// Joins: keys and an answer to make.
        case join
        /// Changes of rooms and participants.
        case change
        /// Avatars. A small file may take a good part of a second to read.
        case avatar
        /// Secrets of one client that were wrong, and short enough to be guessed: PINs.
        case wrongSecret
        /// Tokens and keys of one client that were wrong. Nobody guesses them: the bound is one of what checks cost.
        case wrongProof
        /// Wrong PINs of one room, from all clients.
        case wrongPIN
        /// PINs that a client, or all of them, give a room. Each takes a slow hash, for which other PINs wait.
        case newPIN

        /// Requests at once, and in a second in the long run.
        var limits: (burst: Double, rate: Double) {
            switch self {
            // A class or an office may join from one address at the full hour.
            case .join: (100, 5)
            case .change: (200, 50)
            case .avatar: (100, 1)
            case .wrongSecret: (5, 0.1)
            // One bad client is not to keep out all others behind its address.
            case .wrongProof: (200, 50)
            case .wrongPIN: (50, 0.5)
            case .newPIN: (5, 0.25)
            }
        }
    }

    private struct Entry {
        var buckets: [TokenBucket]

        init(now: MonotonicInstant) {
            buckets = Kind.allCases.map {
                TokenBucket(rate: $0.limits.rate, capacity: $0.limits.burst, now: now)
            }
        }
    }

    /// In two generations: when the younger one is full, the older is forgotten, so that there is no need to search for
    /// the oldest.
    private struct Entries {
        var young: [Subject: Entry] = [:]
        var old: [Subject: Entry] = [:]

        mutating func update<Result>(
            _ subject: Subject, now: MonotonicInstant, _ body: (inout Entry) -> Result
        ) -> Result {
            var entry = young[subject] ?? old[subject] ?? Entry(now: now)
            defer {
                if young[subject] == nil, young.count >= RequestQuotas.generationSize { (old, young) = (young, [:]) }
                young[subject] = entry
            }
            return body(&entry)
        }
    }

    private struct Table {
        private var clients = Entries()
        /// Apart from clients: one that has thousands of networks is not to have a room's wrong PINs forgotten.
        private var rooms = Entries()
        var streams = FairShare<Subject>(capacity: RoomFeedHub.maximumSubscribers)

        mutating func update<Result>(
            _ subject: Subject, now: MonotonicInstant, _ body: (inout Entry) -> Result
        ) -> Result {
            if case .room = subject { return rooms.update(subject, now: now, body) }
            return clients.update(subject, now: now, body)
        }
    }

    private static let generationSize = 4096
    private let table = Mutex(Table())

    /// Counts a request.
    ///
    /// - Parameter cost: For how many it counts.
    /// - Returns: Nil if it is admitted, otherwise the seconds until it would be.
    func take(_ kind: Kind, of subject: Subject, cost: Double = 1, now: MonotonicInstant) -> Int? {
        table.withLock { table in
            table.update(subject, now: now) { entry in
                entry.buckets[kind.rawValue].take(cost, now: now)
                    ? nil : Self.wait(entry.buckets[kind.rawValue], for: cost, now: now)
            }
        }
    }

    /// Counts a request.
    ///
    /// - Throws: A problem with 429 if it is not admitted.
    func admit(_ kind: Kind, of subject: Subject, cost: Double = 1, now: MonotonicInstant) throws(Problem) {
        if let seconds = take(kind, of: subject, cost: cost, now: now) {
            throw Problem.tooManyRequests(kind, retryAfter: seconds)
        }
    }

    /// Asks whether a request would be admitted, without counting it.
    func secondsToWait(_ kind: Kind, of subject: Subject, now: MonotonicInstant) -> Int? {
        table.withLock { table in
            table.update(subject, now: now) { entry in
                let next = entry.buckets[kind.rawValue].nextAvailable(now: now) ?? now
                return next > now ? Self.wait(entry.buckets[kind.rawValue], for: 1, now: now) : nil
            }
        }
    }

    private static func wait(_ bucket: TokenBucket, for cost: Double, now: MonotonicInstant) -> Int {
        let wait = (bucket.nextAvailable(cost, now: now) ?? now) - now
        // Rates such as a tenth have no exact binary form: a wait of a nanosecond more is no further second.
        return max(1, Int(min((wait.seconds - 1e-6).rounded(.up), 3600)))
    }

    /// Takes a place for a stream of events, until the lease is released; nil if there is none for this client.
    func openStream(for subject: Subject) -> StreamLease? {
        guard table.withLock({ $0.streams.take(for: subject) }) else { return nil }
        return StreamLease(quotas: self, subject: subject)
    }

    /// The place of a stream of events.
    final class StreamLease: Sendable {
        private let quotas: RequestQuotas
        private let subject: Subject

        fileprivate init(quotas: RequestQuotas, subject: Subject) {
            self.quotas = quotas
            self.subject = subject
        }

        deinit {
            quotas.table.withLock { $0.streams.giveBack(subject) }
        }
    }
}

extension Problem {
    /// A client asked too often.
    static func tooManyRequests(_ kind: RequestQuotas.Kind, retryAfter seconds: Int) -> Problem {
        let reason =
            switch kind {
            case .join: "too many joins or other requests by POST came from your address or with your token lately"
            case .change: "too many changes came from your address, or with your token, in a short time"
            case .avatar: "too many avatars came from your address"
            case .wrongSecret: "too many wrong PINs came from your address"
            case .wrongProof: "too many wrong tokens or keys came from your address"
            case .wrongPIN: "too many wrong PINs came for this room"
            case .newPIN: "too many new PINs came from your address, or for this room"
            }
        return Problem(
            .tooManyRequests, "\(reason); try again in \(seconds) s", headers: [.retryAfter: "\(seconds)"])
    }
}
