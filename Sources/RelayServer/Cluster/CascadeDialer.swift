import Cluster
import Conference
import Foundation
import HTTPTransfer
import HTTPTypes
import Logging
import MediaCore
import RoomAPI
import RoomMedia

/// Makes the links of this relay's rooms to other relays, and brings their messages.
///
/// Of two relays the one with the greater name makes the links, one after the other. It tries again, at growing
/// intervals, for as long as the directory says that both have the room.
actor CascadeDialer {
    /// Another relay that has a room of this one.
    struct Peer: Hashable, Sendable {
        var room: String
        var node: NodeID
        var url: String
        var epoch: Int64
        /// True if it signs the heads of its requests.
        var signsHeads = true

        fileprivate var key: Key { Key(room: room, node: node) }
    }

    fileprivate struct Key: Hashable {
        var room: String
        var node: NodeID
    }

    private struct Arrangement {
        var peers: [Peer]
        var epochs: [String: Int64]
        var secret: ClusterSecret
        /// The relays that the directory has.
        var relays: Set<NodeID>
    }

    /// A relay that the directory does not name for a room to which there is a link.
    private struct UnlistedPeer {
        /// As the directory named it last; nil: it never did.
        var peer: Peer?
        /// Since when the directory has the relay, and not with the room; nil: it does not have the relay.
        var since: MonotonicInstant?
    }

    private struct Attempt {
        var count = 0
        var next = MonotonicInstant.zero
        var isUnderWay = false
    }

    private let node: NodeID
    private let driver: RelayDriver
    private let logger: Logger
    private let now: @Sendable () -> MonotonicInstant
    private let client = HTTPClient(connectingWithin: .seconds(1))
    /// The newest arrangement that is to be made. One is made after the other: an older one must not win.
    private nonisolated let arrangements: AsyncStream<Arrangement>.Continuation
    private var peers: [Key: Peer] = [:]
    /// Links that the directory does not ask for, or not any more.
    private var unlisted: [Key: UnlistedPeer] = [:]
    private var attempts: [Key: Attempt] = [:]
    /// Links that are not there yet, in the order in which they are made.
    private var missing: [Peer] = []
    /// The link to each relay that has yet to connect. Two handshakes at once between one pair of addresses would take
    /// each other's datagrams.
    private var connecting: [NodeID: Key] = [:]
    private var secret: ClusterSecret?
    /// Avatars that are on their way.
    private var avatars: Set<Relay.MissingAvatar> = []
    private var isListening = false
    private var isClosed = false

    private static let timeout = Duration.seconds(2)
    private static let shortestInterval = Duration.milliseconds(500)
    private static let longestInterval = Duration.seconds(10)
    /// The time in which a relay writes its rooms again into a directory that has lost them.
    private static let patience = Duration.seconds(10)

    init(
        node: NodeID, driver: RelayDriver, logger: Logger,
        now: @escaping @Sendable () -> MonotonicInstant = { .now() }
    ) {
        self.node = node
        self.driver = driver
        self.logger = logger
        self.now = now
        let (stream, continuation) = AsyncStream.makeStream(
            of: Arrangement.self, bufferingPolicy: .bufferingNewest(1))
        arrangements = continuation
        Task { [weak self] in
            for await arrangement in stream { await self?.make(arrangement) }
        }
    }

    func close() async {
        guard !isClosed else { return }
        isClosed = true
        arrangements.finish()
        await client.close()
    }

    /// Makes the links that are missing, and ends those that are not wanted any more.
    ///
    /// A relay that leaves a room ends its links itself. A directory that was away has lost all keys, and gets them
    /// again one by one: so the link to a relay that the directory does not have stays, and one to a relay that has the
    /// room no longer stays for a while. Neither takes the place of a link that is wanted.
    ///
    /// - Parameters:
    ///   - epochs: The rooms that this relay leads, with their epochs.
    ///   - relays: The relays that the directory has.
    nonisolated func arrange(
        _ wanted: [Peer], leading epochs: [String: Int64], secret: ClusterSecret, among relays: Set<NodeID>
    ) {
        arrangements.yield(Arrangement(peers: wanted, epochs: epochs, secret: secret, relays: relays))
    }

    private func make(_ arrangement: Arrangement) async {
        guard !isClosed else { return }
        secret = arrangement.secret
        let former = peers
        peers = Dictionary(arrangement.peers.map { ($0.key, $0) }) { first, _ in first }
        for (key, peer) in former where peers[key] == nil { unlisted[key] = UnlistedPeer(peer: peer) }
        attempts = attempts.filter { peers[$0.key] != nil || $0.value.isUnderWay }
        if !isListening {
            isListening = true
            await driver.setCascade { [weak self] update in
                guard let self else { return }
                Task { await self.send(update) }
            }
        }
        connecting = connecting.filter { attempts[$0.value]?.isUnderWay == true }
        missing = []
        let relays = Dictionary(grouping: arrangement.peers, by: \.room).mapValues { peers in
            Set(peers.map(\.node.rawValue))
        }
        let links = await driver.act { relay, now in
            relay.setConductedRooms(arrangement.epochs)
            relay.setOtherRelays(relays)
            return relay.linkSnapshots(now: now)
        }
        var places = relays.mapValues { Relay.maximumLinksOfRoom - $0.count }
        var present: Set<Key> = []
        for link in links {
            guard let other = NodeID(rawValue: link.node) else { continue }
            let key = Key(room: link.room, node: other)
            present.insert(key)
            if link.isConnected {
                attempts[key]?.count = 0
            } else {
                connecting[other] = key
            }
            guard peers[key] == nil else { continue }
            if keepsLink(key, among: arrangement.relays), places[link.room, default: Relay.maximumLinksOfRoom] > 0 {
                places[link.room, default: Relay.maximumLinksOfRoom] -= 1
                continue
            }
            await driver.act { relay, now in relay.endLink(room: link.room, to: link.node, now: now) }
        }
        unlisted = unlisted.filter { peers[$0.key] == nil && present.contains($0.key) }
        missing = peers.values
            .filter { $0.node < node && !present.contains($0.key) && connecting[$0.node] != $0.key }
            .sorted { ($0.room, $0.node) < ($1.room, $1.node) }
        beginNext()
    }

    /// Returns true if the link to a relay stays although the directory does not name the relay for the room.
    private func keepsLink(_ key: Key, among relays: Set<NodeID>) -> Bool {
        let now = now()
        var entry = unlisted[key] ?? UnlistedPeer()
        entry.since = relays.contains(key.node) ? entry.since ?? now : nil
        unlisted[key] = entry
        return entry.since.map { now - $0 < Self.patience } ?? true
    }

    /// True unless a relay to which there is a link, or has to be one, does not sign the heads of its requests, by what
    /// the directory says of it or said last.
    var allSignHeads: Bool {
        peers.values.allSatisfy(\.signsHeads) && unlisted.values.allSatisfy { $0.peer?.signsHeads ?? true }
    }

    /// Begins to make the next missing link to each relay to which none is being made.
    private func beginNext() {
        guard !isClosed else { return }
        let now = now()
        for peer in missing where connecting[peer.node] == nil {
            let attempt = attempts[peer.key] ?? Attempt()
            if now >= attempt.next { begin(peer, after: attempt) }
        }
        missing.removeAll { connecting[$0.node] == $0.key }
    }

    /// The link to a relay has connected, or could not be made.
    private func ended(_ key: Key) {
        guard connecting[key.node] == key else { return }
        connecting[key.node] = nil
        beginNext()
    }

    private func begin(_ peer: Peer, after attempt: Attempt) {
        var attempt = attempt
        attempt.isUnderWay = true
        let wait = Self.shortestInterval * (1 << min(attempt.count, 5))
        attempt.next = now() + min(wait, Self.longestInterval)
        attempt.count += 1
        attempts[peer.key] = attempt
        connecting[peer.node] = peer.key
        Task {
            do {
                try await dial(peer)
                attempts[peer.key]?.isUnderWay = false
                logger.info("link made", metadata: ["room": "\(peer.room)", "relay": "\(peer.node)"])
            } catch {
                attempts[peer.key]?.isUnderWay = false
                logger.notice(
                    "no link to another relay of a room yet",
                    metadata: ["room": "\(peer.room)", "relay": "\(peer.node)", "reason": "\(error)"])
                ended(peer.key)
            }
        }
    }

    private func dial(_ peer: Peer) async throws {
        let offer = try await driver.act { relay, _ throws(CascadeError) in try relay.offerLink(room: peer.room) }
        let opening = CascadeRequests.Opening(room: peer.room, epoch: peer.epoch, from: node, offer: offer)
        let answer = try await exchange(.post, CascadeRequests.path, opening, with: peer)
        let accepted = try JSONDecoder().decode(CascadeOffer.self, from: answer)
        try await driver.act { relay, now throws(CascadeError) in
            try relay.openLink(
                room: peer.room, to: peer.node.rawValue, offer: offer, answer: accepted, now: now)
        }
    }

    private func peer(_ key: Key) -> Peer? { peers[key] ?? unlisted[key]?.peer }

    private func send(_ update: CascadeUpdate) async {
        var isDelivered = false
        let key = NodeID(rawValue: update.node).map { Key(room: update.room, node: $0) }
        // A link has messages as soon as it has connected.
        if let key {
            missing.removeAll { $0.key == key }
            ended(key)
        }
        if let peer = key.flatMap({ peer($0) }) {
            let telling = CascadeRequests.Telling(room: update.room, from: node, state: update.state)
            do {
                _ = try await exchange(.put, "\(CascadeRequests.path)/\(update.link)", telling, with: peer)
                isDelivered = true
            } catch {
                logger.debug(
                    "a message of a link was not delivered",
                    metadata: ["room": "\(update.room)", "relay": "\(update.node)", "reason": "\(error)"])
            }
        }
        await driver.act { [isDelivered] relay, now in
            relay.cascadeEnded(update, isDelivered: isDelivered, now: now)
        }
    }

    /// The most avatars that are fetched at the same time. For others there is the next state, a second later.
    private static let maximumAvatars = 4

    /// Gets avatars of participants from their relay.
    func fetch(_ missing: [Relay.MissingAvatar], room: String, from node: NodeID, link: String) {
        guard let peer = peer(Key(room: room, node: node)) else { return }
        for avatar in missing where avatars.count < Self.maximumAvatars && avatars.insert(avatar).inserted {
            Task {
                do {
                    try await fetch(avatar, from: peer, link: link)
                } catch {
                    logger.debug(
                        "an avatar did not come", metadata: ["relay": "\(peer.node)", "reason": "\(error)"])
                }
                avatars.remove(avatar)
            }
        }
    }

    private func fetch(_ missing: Relay.MissingAvatar, from peer: Peer, link: String) async throws {
        let path = "\(CascadeRequests.path)/\(link)/avatars/\(missing.participant)"
        let avatar = try Avatar(
            png: [UInt8](await exchange(.get, path, body: [], with: peer, upTo: SignallingLimits.avatarSize)))
        guard avatar.digest == missing.digest else { throw Refusal(description: "it is another one by now") }
        await driver.act { relay, now in
            relay.receive(
                avatar, ofParticipant: missing.participant, inRoom: peer.room, from: peer.node.rawValue, now: now)
        }
    }

    /// Another relay does not do what it is asked for.
    private struct Refusal: Error, CustomStringConvertible {
        var description: String
    }

    private func exchange(
        _ method: HTTPClient.Method, _ path: String, _ message: some Encodable, with peer: Peer
    ) async throws -> Data {
        let body = [UInt8](try JSONEncoder.compact.encode(message))
        return try await exchange(method, path, body: body, with: peer)
    }

    private func exchange(
        _ method: HTTPClient.Method, _ path: String, body: [UInt8], with peer: Peer,
        upTo size: Int = CascadeRequests.bodySize
    ) async throws -> Data {
        let line = "\(method.rawValue) \(path)"
        guard !isClosed, let secret,
            let signature = secret.signature(
                of: line, body: body, to: peer.node, time: Date.now.timeIntervalSince1970),
            let head = secret.headSignature(of: line, signature: signature, bodySize: body.count, to: peer.node)
        else { throw Refusal(description: "the cluster's secret is not known") }
        var request = HTTPClient.Request(method, "\(peer.url)\(path)")
        request.add("Content-Type", SignallingMediaType.json)
        request.add(HTTPField.Name.relaySignature.rawName, signature)
        request.add(HTTPField.Name.relayHeadSignature.rawName, head)
        request.body = body
        let answer = try await client.perform(request, within: Self.timeout, upTo: size)
        guard answer.isSuccess else {
            throw Refusal(description: "\(answer.status) \(String(decoding: answer.body.prefix(300), as: UTF8.self))")
        }
        return Data(answer.body)
    }
}
