import CongestionControl
public import MediaCore
import NIOCore
import OrderedCollections
import PeerConnection
import RoomAPI
import SDP
import SecureTransport

/// Links to other relays that have rooms of this one.
///
/// The relay's cluster says which relays have a room. One of two makes the link: `offerLink`, the other side's
/// `answerLink`, `openLink`. From then on `pollCascade` has messages for the other side, whose messages come to
/// `receive(_:room:link:now:)`.
extension Relay {
    /// Links of a room: a full mesh of eight relays.
    public static let maximumLinksOfRoom = 7
    /// Links that are remembered: a request that was seen on its way and comes again ends none that was made since.
    private static let maximumRecentLinks = 1024
    /// Addresses of the other side that are checked.
    private static let maximumCandidates = 8

    // MARK: Making a link

    /// Begins a link of a room. Nothing is kept until `openLink`.
    public func offerLink(room id: String) throws(CascadeError) -> CascadeOffer {
        guard let room = rooms[id], room.hasParticipants else { throw .noSuchRoom }
        return try makeOffer(link: makePublicID(), credentials: ICECredentials(using: &random), addresses: [])
    }

    private func makeOffer(
        link: String, credentials: ICECredentials, addresses: [TransportAddress]
    ) throws(CascadeError) -> CascadeOffer {
        guard let certificate = configuration.certificate else { throw .resources("the relay has no certificate") }
        return CascadeOffer(
            link: link, usernameFragment: credentials.usernameFragment, password: credentials.password,
            fingerprint: certificate.fingerprint.description,
            reporter: UInt32.random(in: 1 ... .max, using: &random),
            addresses: addresses.map { .init(host: $0.host, port: $0.port) })
    }

    /// Takes the link that another relay makes. An earlier link to that relay ends.
    ///
    /// - Parameter node: The other relay.
    public func answerLink(
        room id: String, from node: String, offer: CascadeOffer, now: MonotonicInstant
    ) throws(CascadeError) -> CascadeOffer {
        guard let room = rooms[id], room.hasParticipants else { throw .noSuchRoom }
        try checkPlace(for: node, in: room)
        guard !recentLinks.contains(offer.link) else { throw .isKnown }
        let credentials = ICECredentials(using: &random)
        let answer = try makeOffer(
            link: offer.link, credentials: credentials, addresses: mediaAddresses)
        var transport = try Self.transport(local: answer, remote: offer)
        transport.dtlsRole = .server
        try addLink(
            node, in: room, isMaker: false, transport: transport, reporters: (answer.reporter, offer.reporter),
            name: offer.link, now: now)
        recentLinks.append(offer.link)
        if recentLinks.count > Self.maximumRecentLinks { recentLinks.removeFirst() }
        return answer
    }

    /// Opens a link with the other side's answer to an offer.
    public func openLink(
        room id: String, to node: String, offer: CascadeOffer, answer: CascadeOffer, now: MonotonicInstant
    ) throws(CascadeError) {
        guard let room = rooms[id], room.hasParticipants else { throw .noSuchRoom }
        try checkPlace(for: node, in: room)
        guard answer.link == offer.link else { throw .invalid(reason: "the answer is for another link") }
        var transport = try Self.transport(local: offer, remote: answer)
        let addresses = answer.addresses.prefix(Self.maximumCandidates).compactMap {
            TransportAddress(host: $0.host, port: $0.port)
        }
        guard !addresses.isEmpty else { throw .invalid(reason: "the relay names no media address") }
        transport.isRemoteLite = true
        transport.remoteCandidates = ICECandidate.hostCandidates(addresses)
        let link = try addLink(
            node, in: room, isMaker: true, transport: transport, reporters: (offer.reporter, answer.reporter),
            name: offer.link, now: now)
        for address in addresses { paths.checked(link, source: address) }
        service(link, now: now)
    }

    private func checkPlace(for node: String, in room: Room) throws(CascadeError) {
        guard room.links[node] != nil || room.links.count < Self.maximumLinksOfRoom else {
            throw .tooManyLinks(limit: Self.maximumLinksOfRoom)
        }
    }

    private static func transport(
        local: CascadeOffer, remote: CascadeOffer
    ) throws(CascadeError) -> NegotiatedTransport {
        guard remote.version == CascadeOffer.currentVersion else {
            throw .invalid(reason: "version \(remote.version); this relay speaks \(CascadeOffer.currentVersion)")
        }
        guard let fingerprint = CertificateFingerprint(remote.fingerprint) else {
            throw .invalid(reason: "the fingerprint is not 32 bytes")
        }
        let sizes = (remote.usernameFragment.utf8.count, remote.password.utf8.count)
        guard (4...256).contains(sizes.0), (22...256).contains(sizes.1), (1...64).contains(remote.link.utf8.count),
            remote.reporter != 0, remote.reporter != local.reporter
        else { throw .invalid(reason: "the credentials are not possible") }
        return NegotiatedTransport(
            localCredentials: ICECredentials(usernameFragment: local.usernameFragment, password: local.password),
            remoteCredentials: ICECredentials(usernameFragment: remote.usernameFragment, password: remote.password),
            dtlsRole: .client, remoteFingerprints: [fingerprint])
    }

    @discardableResult
    private func addLink(
        _ node: String, in room: Room, isMaker: Bool, transport: NegotiatedTransport,
        reporters: (local: UInt32, remote: UInt32), name: String, now: MonotonicInstant
    ) throws(CascadeError) -> CascadeLink {
        let controller = configuration.congestionController.makeController(limits: CascadeLink.rateLimits, now: now)
        var peerConfiguration = PeerConfiguration(
            rateLimits: CascadeLink.rateLimits, trustsRemoteDescription: false, seed: random.next(),
            certificate: configuration.certificate)
        peerConfiguration.maximumSourceCount = CascadeLink.maximumSources
        let peer: PeerConnection
        do {
            peer = try PeerConnection(
                session: CascadeLink.session(transport: transport, reporter: reporters.local),
                configuration: peerConfiguration, wallClock: wallClock, controller: controller, now: now)
        } catch {
            throw .resources("the SRTP session could not be made: \(error)")
        }
        if let former = room.links[node] { end(former, because: .replaced, now: now) }
        let link = CascadeLink(
            id: nextEndpointID(), room: room.id, node: node, name: name, isMaker: isMaker, reporters: reporters,
            seed: random.next(), peer: peer, now: now)
        links[link.id] = link
        room.links[node] = link
        if case .end(let actor) = endingRooms[room.id]?.cause {
            _ = link.orders.add(.moderation(.end, by: actor))
        }
        paths.add(link, usernameFragment: transport.localCredentials.usernameFragment)
        return link
    }

    // MARK: Ending a link

    /// Ends the link to a relay, if there is one: that relay has left the room, or its cluster.
    public func endLink(room: String, to node: String, now: MonotonicInstant) {
        if let link = rooms[room]?.links[node] { end(link, because: .left, now: now) }
    }

    /// Ends a link. The members at its other side leave.
    func end(_ link: CascadeLink, because reason: LinkEnd, now: MonotonicInstant) {
        guard links.removeValue(forKey: link.id) != nil else { return }
        if reason == .lost { linkCounters.lost &+= 1 }
        retire(link)
        paths.remove(link)
        handshakes.release(link.id)
        let members = link.members
        link.members = [:]
        if let room = rooms[link.room] {
            if room.links[link.node] === link { room.links[link.node] = nil }
            if reason != .goodbye { room.door.expect(members.values.compactMap { $0.remote?.told }, now: now) }
            for member in members.values { removeMember(member, from: room, now: now) }
            room.conductorLeft(link.conductedEpoch)
        }
        close(link, now: now)
    }

    private func retire(_ link: CascadeLink) {
        linkCounters.packets &+= link.packetsSent
        linkCounters.heldBack &+= link.picturesHeld
    }

    func endLinks(of room: Room, now: MonotonicInstant) {
        for link in Array(room.links.values) { end(link, because: .roomClosed, now: now) }
    }

    /// The reason for which a link ends.
    enum LinkEnd {
        case goodbye, left, lost, replaced, roomClosed
    }

    // MARK: Time

    /// Performs due work of links.
    func wakeLinks(now: MonotonicInstant) {
        endRooms(now: now)
        for link in Array(links.values) {
            if now >= link.nextWakeUp {
                link.peer.wake(now: now)
                service(link, now: now)
            }
            guard now >= link.nextCheck, let room = rooms[link.room], links[link.id] != nil else { continue }
            link.nextCheck = now + CascadeLink.checkInterval
            if link.hasFailed(now: now) {
                end(link, because: .lost, now: now)
                continue
            }
            if link.isConnected { room.update(link, now: now) }
            service(link, now: now)
        }
    }

    /// Moves a connection's events into its room.
    func service(_ endpoint: Endpoint, now: MonotonicInstant) {
        if let participant = endpoint as? Participant {
            service(participant, now: now)
        } else if let link = endpoint as? CascadeLink {
            service(link, now: now)
        }
    }

    /// Moves a link's events into its room, and notes that it may have something to send.
    func service(_ link: CascadeLink, now: MonotonicInstant) {
        guard links[link.id] != nil, let room = rooms[link.room] else { return }
        var decoding: [Participant] = []
        while let event = link.peer.pollEvent() {
            switch event {
            case .videoFrame(var frame):
                guard case .relayed(let line) = frame.content, let (member, content) = link.owner(ofLine: line),
                    let picture = content.picture
                else { continue }
                frame.content = picture.negotiated
                room.videoFrame(frame, from: member, now: now)
                if decoding.last !== member { decoding.append(member) }
            case .videoPacket(var packet):
                guard case .relayed(let line) = packet.content, let (member, content) = link.owner(ofLine: line),
                    let picture = content.picture
                else { continue }
                packet.content = picture.negotiated
                for receiver in room.videoPacket(packet, from: member, now: now) { recordTransmit(receiver) }
            case .audioPacket(var packet):
                guard case .relayed(let line) = packet.content, let (member, _) = link.owner(ofLine: line) else {
                    continue
                }
                packet.content = .main
                for receiver in room.audioPacket(packet, from: member, now: now) { recordTransmit(receiver) }
            case .keyframeRequested(.relayed(let line)): room.keyframeRequested(onLine: line, of: link, now: now)
            case .connectionStateChanged(let state):
                if state == .failed {
                    end(link, because: .lost, now: now)
                    return
                }
                guard state == .connected, !link.isConnected else { continue }
                link.isConnected = true
                link.nextCheck = now
                linkCounters.connected &+= 1
            case .goodbye:
                end(link, because: .goodbye, now: now)
                return
            case .keyframeRequested, .videoEnded, .pictureLost, .pictureAcknowledged, .videoBitRateChanged,
                .audioBitRateChanged:
                // Sources begin and end by messages, and their senders choose their rates.
                continue
            }
        }
        for member in decoding { room.handOutDecodes(of: member, now: now) }
        recordTransmit(link)
    }

    // MARK: Messages

    /// The next message for the other side of a link, if any. There is one at a time for each link: tell its end with
    /// `cascadeEnded`.
    public func pollCascade(now: MonotonicInstant) -> CascadeUpdate? {
        for link in links.values {
            guard let state = link.takeMessage(now: now) else { continue }
            return CascadeUpdate(room: link.room, node: link.node, link: link.name, state: state)
        }
        return nil
    }

    /// A message was delivered, or it is not known whether it was.
    public func cascadeEnded(_ update: CascadeUpdate, isDelivered: Bool, now: MonotonicInstant) {
        guard let link = rooms[update.room]?.links[update.node], link.name == update.link else { return }
        link.messageEnded(update.state, isDelivered: isDelivered, now: now)
    }

    /// Takes a message of a link's other side. One that was overtaken by a newer one is ignored.
    public func receive(
        _ state: CascadeState, room id: String, from node: String, link name: String, now: MonotonicInstant
    ) throws(CascadeError) {
        guard let room = rooms[id], let link = room.links[node], link.name == name else { throw .noSuchLink }
        do throws(CascadeError) {
            guard try link.take(state, now: now) else { return }
        } catch {
            linkCounters.refused &+= 1
            throw error
        }
        var told: OrderedDictionary<String, CascadeState.Member> = [:]
        for member in state.members.prefix(configuration.maximumParticipants) where member.isPlausible {
            told[member.id] = member
        }
        for (id, member) in link.members where told[id] == nil {
            link.members[id] = nil
            room.door.left(id)
            removeMember(member, from: room, now: now)
        }
        for (id, wanted) in told {
            if let member = link.members[id] {
                room.remoteMemberChanged(member, told: wanted, now: now)
            } else {
                place(wanted, of: link, in: room, now: now)
            }
        }
        link.elsewhere = link.elsewhere.filter { told[$0.key] != nil }
        room.linesChanged(of: link, now: now)
        if let former = link.conductedEpoch, former != state.stage?.epoch { room.conductorLeft(former) }
        link.conductedEpoch = state.stage?.epoch
        if let stage = state.stage { room.take(stage) }
        for event in link.acts.take(state.acts) { take(event, in: room, now: now) }
        for change in link.orders.take(state.orders) {
            // The last participant may leave by an order, and the room ends with its links.
            guard links[link.id] != nil else { return }
            carryOut(change, in: room, now: now)
        }
        service(link, now: now)
    }

    /// Sets which rooms this relay leads, with their epochs: there it decides what everybody sees.
    public func setConductedRooms(_ epochs: [String: Int64]) {
        for room in rooms.values { room.conduct(epochs[room.id]) }
    }

    /// All links, in the order of their rooms' names.
    public func linkSnapshots(now: MonotonicInstant) -> [CascadeLinkSnapshot] {
        links.values.map { $0.snapshot(now: now) }.sorted { ($0.room, $0.node) < ($1.room, $1.node) }
    }

    /// Counted since the relay's start.
    public var cascadeCounters: CascadeCounters {
        links.values.reduce(into: linkCounters) { counters, link in
            counters.packets &+= link.packetsSent
            counters.heldBack &+= link.picturesHeld
        }
    }
}
