import Cluster
import Foundation
import HTTPTypes
import Logging
import RoomAPI
import Synchronization
import Testing

@testable import RelayServer

/// What relays of a cluster send to each other, themselves or by clients, and what others make up.
@Suite("Requests between relays of a cluster")
struct RelayRequestTests {
    private let secret = ClusterSecret(FixedDirectory.secret)

    @Test("bring along the claims of the longest tokens")
    func longestToken() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "confrelay-keys-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(AccessKeys.newFile(.hs256, id: "main").utf8).write(to: file)
        let keys = try KeyStore(file: file.path, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        var claims = AccessClaims(room: "demo")
        claims.identity = String(repeating: "/\"", count: 970)
        let token = try await keys.current.sign(claims)
        #expect((AccessKeys.maximumTokenLength - 100...AccessKeys.maximumTokenLength).contains(token.utf8.count))
        var client = SignallingClient()
        client.keys = keys
        let driver = client.makeDriver()
        let service = try await ClusterService.start(try FixedDirectory.ofOther(owning: "demo"), driver)
        client.cluster = service
        let answer = try await client.answer(
            driver, .post, "/rooms/demo/participants",
            headers: [.contentType: "application/sdp", .authorization: "Bearer \(token)"], body: "v=0\r\n")
        #expect(answer.status == .temporaryRedirect)
        let location = try #require(answer.headers[.location])
        let text = try #require(location.split(separator: "placement=").last)
        let node = try #require(NodeID(rawValue: "b"))
        let ticket = try #require(secret.ticket(String(text), node: node, room: "demo", time: 0))
        let grant = try #require(ticket.grant)
        #expect(try JSONDecoder().decode(AccessClaims.self, from: Data(grant.utf8)) == claims)
        await service.close()
        await driver.close()
    }

    @Test("have the log told of tickets that come late, as they do where clocks differ, and not of each")
    func lateTickets() async throws {
        let log = LogLines()
        var client = SignallingClient()
        let driver = client.makeDriver()
        let service = try await ClusterService.start(try FixedDirectory.ofOther(), driver, log: log)
        client.cluster = service
        for lateness in [-600.0, 30, 30] {
            let ticket = ClusterSecret.Ticket(
                room: "demo", node: try #require(NodeID(rawValue: "a")),
                expiry: Date.now.timeIntervalSince1970 - lateness, hops: 1)
            let text = try #require(secret.sign(ticket))
            _ = try await client.answer(
                driver, .post, "/rooms/demo/participants?placement=\(text)",
                headers: [.contentType: "application/sdp"], body: "v=0\r\n")
            let warnings = log.texts.withLock { $0.count { $0.contains("clocks of the relays") } }
            #expect(warnings == (lateness < 0 ? 0 : 1))
        }
        await service.close()
        await driver.close()
    }
}
