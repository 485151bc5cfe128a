import Conference
import HTTPTypes
import Logging
import MediaCore
import NIOCore
import RoomAPI
import RoomMedia
import Synchronization

/// Films and streams that are members of rooms.
extension RelayDriver {
    /// Lets films and streams be played; to be called before the relay serves.
    func setPlayers(_ rules: PlayerRules, logger: Logger) {
        players = PlayerHub(rules: rules, logger: logger) { [weak self, eventLoop] room, id in
            let hop = PlayerHop { [weak self] action in
                eventLoop.execute { [weak self] in self?.assumeIsolated { action($0) } }
            }
            return PlayerThread.Output(
                show: { picture, rotation in
                    hop.run { driver in
                        let demand = driver.act { relay, now in
                            relay.show(picture, rotation: rotation, ofPlayer: id, room: room, now: now)
                        }
                        driver.players?.setDemand(demand, ofPlayer: id)
                    }
                },
                encoded: { sample, rotation, time in
                    hop.run { driver in
                        driver.act { relay, now in
                            relay.receive(
                                sample, rotation: rotation, shownAt: time, ofPlayer: id, room: room, now: now)
                        }
                    }
                },
                play: { packet in
                    hop.run { driver in
                        driver.act { relay, now in relay.receive(packet, ofPlayer: id, room: room, now: now) }
                    }
                },
                tell: { status in
                    hop.run(isUrgent: true) { driver in
                        let command: RoomCommand =
                            status.state == .ended
                            ? .endPlayer(id: id, reason: status.reason ?? .failed) : .setPlayer(status)
                        // The player may have ended meanwhile.
                        try? driver.perform(command, room: room)
                    }
                })
        }
    }

    /// Begins to play a film or a stream in a room.
    ///
    /// - Throws: `Problem`: the room does not exist, has too many players or no seat, does not let the publisher in, or
    ///   there is no time for it.
    func startPlayer(
        room: String, name: String, _ target: PlayerTarget, _ settings: PlayerSettings, place: Duration = .zero,
        publisher: StreamPublisher? = nil
    ) throws(Problem) -> PlayerDescription {
        guard players?.hasRoom() ?? false else {
            throw Problem(
                .serviceUnavailable,
                "the relay has \(PlayerHub.maximumPlayers) players, which is the most; try again when others have "
                    + "ended", headers: [.retryAfter: "30"])
        }
        let id = Self.makeID("player")
        let status = PlayerStatus(id: id, name: name, state: .opening)
        do {
            try act { relay, now throws(RoomControlError) in
                try relay.perform(.startPlayer(id: id, name: name, publisher: publisher), room: room, now: now)
                players?.begin(status, room: room, target: target, settings: settings, place: place)
            }
        } catch {
            throw Problem(error)
        }
        return players?.description(of: id, room: room)
            ?? PlayerDescription(status, url: target.shown, settings: settings)
    }

    /// Changes how a player plays.
    func changePlayer(_ id: String, ofRoom room: String, _ change: PlayerChange) throws(Problem) {
        do throws(PlayerHub.PlayerChangeError) {
            try players?.change(id, room: room, change)
        } catch {
            switch error {
            case .noSuchPlayer: throw Problem(RoomControlError.noSuchPlayer(id))
            case .notSeekable:
                throw Problem(.conflict, "this cannot be played from another place: it is live, or not open yet")
            }
        }
    }

    /// The players of a room; nil: there is no such room.
    func players(ofRoom room: String) -> [PlayerDescription]? {
        guard ask({ $0.access(ofRoom: room, participant: nil) }) != nil else { return nil }
        return players?.descriptions(ofRoom: room) ?? []
    }

    /// A player of a room; nil: there is no such player.
    func player(_ id: String, ofRoom room: String) -> PlayerDescription? { players?.description(of: id, room: room) }
}

/// The way from a player's thread to the relay's loop. What the loop has no time for is left out.
private final class PlayerHop: Sendable {
    private static let most = 64
    private let waiting = Atomic(0)
    private let execute: @Sendable (_ action: @escaping @Sendable (isolated RelayDriver) -> Void) -> Void

    init(
        _ execute: @escaping @Sendable (_ action: @escaping @Sendable (isolated RelayDriver) -> Void) -> Void
    ) {
        self.execute = execute
    }

    /// - Parameter isUrgent: Whether it must not be left out.
    /// - Returns: Whether it is done.
    @discardableResult
    func run(isUrgent: Bool = false, _ action: @escaping @Sendable (isolated RelayDriver) -> Void) -> Bool {
        guard isUrgent || waiting.load(ordering: .relaxed) < Self.most else { return false }
        waiting.add(1, ordering: .relaxed)
        execute { [self] driver in
            waiting.subtract(1, ordering: .relaxed)
            action(driver)
        }
        return true
    }
}
