import Foundation
import HTTPTypes
import NIOPosix
import RoomAPI
import Testing

@testable import RelayServer

/// The tables of docs/access.md are the program's own: the roles' permissions, and what each request takes.
///
/// `CONFRELAY_WRITE_DOCS=1` writes them anew.
@Suite("The page on access", .serialized)
struct AccessDocumentTests {
    private static let page = "access.md"

    private static var roles: String {
        let columns = AccessRole.allCases.map(\.rawValue).joined(separator: " | ")
        let rows = Permission.allCases.map { permission in
            let marks = AccessRole.allCases.map { $0.permissions.contains(permission) ? "yes" : "" }
            return "| `\(permission.rawValue)` | \(marks.joined(separator: " | ")) |"
        }
        return
            (["| permission | \(columns) |", "| --- |" + String(repeating: " --- |", count: AccessRole.allCases.count)]
            + rows)
            .joined(separator: "\n")
    }

    private static var requests: String {
        let driver = RelayDriver(eventLoop: MultiThreadedEventLoopGroup.singleton.next(), workerCount: 1) {
            TwinRelay(.init())
        }
        // The needs of requests, in the order of the routes, and the paths with their methods.
        var kinds: [String] = []
        var paths: [String: [(path: String, methods: [String])]] = [:]
        for route in SignallingClient().makeRouter(driver).routes {
            let path = route.path.replacing(#/:(\w+)/#) { "{\($0.1)}" }
            for request in route.requests {
                let kind = words(request.requirement, path: path)
                if !kinds.contains(kind) { kinds.append(kind) }
                var entries = paths[kind] ?? []
                if entries.last?.path != path { entries.append((path, [])) }
                entries[entries.count - 1].methods.append(request.method.rawValue)
                paths[kind] = entries
            }
        }
        let rows = kinds.map { kind in
            let requests = (paths[kind] ?? []).map { "`\($0.methods.joined(separator: ", ")) \($0.path)`" }
            return "| \(kind) | \(requests.joined(separator: ", ")) |"
        }
        return (["| takes | requests |", "| --- | --- |"] + rows).joined(separator: "\n")
    }

    private static func words(_ requirement: Requirement, path: String) -> String {
        switch requirement {
        case .none: "nothing"
        case .needs(let permission): "`\(permission.rawValue)`"
        case .needsUnlessPage(let permission): "`\(permission.rawValue)`; as HTML nothing"
        case .needsEverywhere(let permission): "`\(permission.rawValue)` for all rooms"
        case .ownSession: "the session's key"
        case .ownSessionOr(let permission): "the session's key, or `\(permission.rawValue)`"
        case .join where path.hasPrefix("/whip"): "`microphone`, `camera` or `screen`"
        case .join where path.hasPrefix("/whep"): "`watch`"
        case .join: "`watch`, `microphone`, `camera` or `screen`"
        case .ownTicket: "the key of the place in the lobby"
        case .relaySignature: "the signature of a relay of the cluster"
        }
    }

    @Test("has the program's tables", arguments: [("roles", roles), ("requests", requests)])
    func tables(name: String, table: String) throws {
        try DocumentPage.expect(table, named: name, in: Self.page)
    }
}
