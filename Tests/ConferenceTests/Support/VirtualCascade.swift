import Foundation
import LinkEmulation
import MediaCore
import MediaFixtures
import NIOCore
import OrderedCollections
import RoomAPI
import SecureTransport
import Testing

@testable import Conference
@testable import PeerConnection

/// Several relays of one room on virtual time: their datagrams cross emulated links, their messages arrive after a
/// delay, and no socket is opened.
final class VirtualCascade {
    struct Site {
        let name: String
        let call: VirtualCall
        let address: TransportAddress
        /// The packets that the site sends to others.
        var network: LinkModel<(ByteBuffer, TransportAddress)>
        var isDead = false
    }

    private struct Message {
        var due: MonotonicInstant
        var from: Int
        var update: CascadeUpdate
    }

    private(set) var sites: [Site] = []
    private var messages: [Message] = []
    private(set) var messageCount = 0
    /// Messages that were refused.
    private(set) var refusals: [CascadeError] = []
    /// True while messages arrive and their senders do not hear of it.
    var losesAnswers = false
    private var outbox: [[(ByteBuffer, TransportAddress)]]

    private static let step = Duration.milliseconds(1)
    private static let messageDelay = Duration.milliseconds(10)

    init(
        _ names: [String], network: LinkProfile = LinkProfile(rate: .unlimited, delay: .milliseconds(5)),
        configure: (inout RelayConfiguration) -> Void = { _ in }
    ) {
        outbox = names.map { _ in [] }
        for (index, name) in names.enumerated() {
            let address = TransportAddress(ipv4: 0x7f00_0001, port: UInt16(7000 + 100 * index))
            let call = VirtualCall(seed: UInt64(100 + index)) { configuration in
                configuration.mediaAddresses = [address]
                configure(&configuration)
            }
            sites.append(
                Site(
                    name: name, call: call, address: address,
                    network: LinkModel(profile: network, seed: UInt64(index + 1), start: call.now)))
            call.onUnclaimed = { [weak self] transmit, _ in
                self?.outbox[index].append((transmit.datagram, transmit.destination))
            }
        }
    }

    /// Two relays with one member each, Ada in red and Ben in blue, and a link that is being made.
    static func linkedPair() throws -> (pair: VirtualCascade, ada: TestClient, ben: TestClient) {
        let pair = VirtualCascade(["a", "b"])
        let ada = try pair[0].join("Ada", colour: .red)
        let ben = try pair[1].join("Ben", colour: .blue)
        pair.run(for: .milliseconds(500))
        try pair.link(1, 0)
        return (pair, ada, ben)
    }

    subscript(index: Int) -> VirtualCall { sites[index].call }

    var now: MonotonicInstant { sites[0].call.now }

    func room(_ index: Int, _ id: String = "demo") -> Room? { sites[index].call.relay.rooms[id] }

    /// The names of a room's members, sorted.
    func names(_ index: Int, _ id: String = "demo") -> [String] {
        (room(index, id)?.participants.map(\.name) ?? []).sorted()
    }

    /// A member that is at another relay.
    func remote(_ name: String, at index: Int) -> Participant? {
        room(index)?.participants.first { $0.name == name && $0.remote != nil }
    }

    /// Makes the link between two relays.
    func link(_ maker: Int, _ other: Int, room: String = "demo") throws {
        let offer = try sites[maker].call.relay.offerLink(room: room)
        let answer = try sites[other].call.act { relay, now in
            try relay.answerLink(room: room, from: sites[maker].name, offer: offer, now: now)
        }
        try sites[maker].call.act { relay, now in
            try relay.openLink(room: room, to: sites[other].name, offer: offer, answer: answer, now: now)
        }
    }

    /// Ends a relay without a goodbye.
    func kill(_ index: Int) { sites[index].isDead = true }

    func run(for duration: Duration) {
        let end = now + duration
        while now < end { advance() }
    }

    /// Runs until `condition` holds; returns false when it does not within `limit`.
    func run(until condition: () -> Bool, limit: Duration = .seconds(10)) -> Bool {
        let end = now + limit
        while !condition() {
            guard now < end else { return false }
            advance()
        }
        return true
    }

    private func advance() {
        for site in sites {
            if site.isDead { site.call.standStill(for: Self.step) } else { site.call.run(for: Self.step) }
        }
        let now = now
        for index in sites.indices where !sites[index].isDead {
            // A relay may answer a datagram of this step at once: its answer leaves with the next step.
            let leaving = outbox[index]
            outbox[index] = []
            for (datagram, destination) in leaving {
                _ = sites[index].network.send(
                    (datagram, destination), size: DataSize(bytes: datagram.readableBytes), now: now)
            }
            while let (datagram, destination) = sites[index].network.deliver(now: now) {
                guard let target = sites.firstIndex(where: { $0.address == destination }), !sites[target].isDead else {
                    continue
                }
                sites[target].call.inject(datagram, from: sites[index].address)
            }
            while let update = sites[index].call.relay.pollCascade(now: now) {
                messages.append(Message(due: now + Self.messageDelay, from: index, update: update))
            }
        }
        for index in sites.indices where sites[index].isDead { outbox[index] = [] }
        let due = messages.filter { $0.due <= now }
        messages.removeAll { $0.due <= now }
        for message in due { deliver(message) }
    }

    private func deliver(_ message: Message) {
        guard !sites[message.from].isDead else { return }
        messageCount += 1
        var isDelivered = false
        let sender = sites[message.from]
        if let target = sites.first(where: { $0.name == message.update.node }), !target.isDead {
            do {
                let bytes = try JSONEncoder().encode(message.update.state)
                let state = try JSONDecoder().decode(CascadeState.self, from: bytes)
                try target.call.act { relay, now in
                    try relay.receive(
                        state, room: message.update.room, from: sender.name, link: message.update.link, now: now)
                }
                isDelivered = !losesAnswers
            } catch let error as CascadeError {
                refusals.append(error)
            } catch {
                Issue.record(error, "a message is not what it was after its way as JSON")
            }
        }
        sender.call.act { relay, now in
            relay.cascadeEnded(message.update, isDelivered: isDelivered, now: now)
        }
    }
}
