import ArgumentParser
import Foundation
import RelayServer
import RoomAPI

/// `confrelay cluster`: looks at a cluster.
struct ClusterCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "confrelay cluster", abstract: "Look at a cluster of relays.",
        subcommands: [ClusterStatusCommand.self])
}

/// `confrelay cluster status`: the relays and rooms of a cluster.
struct ClusterStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show the relays and rooms of a cluster, as its directory has them.",
        discussion: """
            confrelay cluster status --cluster http://127.0.0.1:2379

            SEATS are further participants that fit; '-' where a relay does not count them (--overload-control off). A \
            room with several relays is larger than one of them, or was opened by two while the directory was away.

            Exit codes: 0 shown; 64 an option is wrong; 69 etcd does not answer, or refuses.
            """)

    @OptionGroup var etcd: EtcdOptions

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard !etcd.cluster.isEmpty else {
            throw ValidationError("name the cluster's etcd: --cluster http://127.0.0.1:2379")
        }
    }

    func run() async throws {
        let status: ClusterStatus
        do {
            status = try await ClusterStatus.read(etcd.settings)
        } catch {
            throw CommandFailure(.unavailable, "\(error)")
        }
        if json {
            try StandardStreams.write(String(decoding: JSONEncoder.readable.encode(status), as: UTF8.self) + "\n")
        } else {
            try StandardStreams.write(Self.text(of: status))
        }
    }

    static func text(of status: ClusterStatus) -> String {
        guard !status.relays.isEmpty else { return "no relays\n" }
        let relays = status.relays.map { relay in
            [
                relay.id, relay.state, relay.region, relay.seatsLeft.map(String.init) ?? "-", "\(relay.participants)",
                "\(relay.rooms)", relay.url, relay.version,
            ]
        }
        let rooms = status.rooms.map { room in
            [room.id, room.owner ?? "-", room.epoch.map(String.init) ?? "-", room.relays.joined(separator: " ")]
        }
        var text = table([["RELAY", "STATE", "REGION", "SEATS", "PEOPLE", "ROOMS", "URL", "VERSION"]] + relays)
        if !rooms.isEmpty { text += "\n" + table([["ROOM", "OWNER", "EPOCH", "RELAYS"]] + rooms) }
        return text
    }

    private static func table(_ rows: [[String]]) -> String {
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = zip(row, widths).map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }
            let line = cells.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed()) + "\n"
        }.joined()
    }
}
