import Cluster
import Foundation
import HTTPTypes
import Logging
import NIOCore
import RoomAPI
import Synchronization
import Testing

@testable import RelayServer

/// What relays of a cluster send to each other, themselves or by clients, and what others make up.
@Suite("Requests between relays of a cluster")
struct RelayRequestTests {
    private let secret = ClusterSecret(FixedDirectory.secret)
    private static let line = "POST \(CascadeRequests.path)"

    /// Sends a message to the relay `a`, and returns its answer.
    ///
    /// - Parameters:
    ///   - headers: The fields. They are made when the relay is there: signatures soon end.
    ///   - otherSignsHeads: Nil: the other relay of the cluster is of the last version.
    private func send(
        _ headers: () throws -> HTTPFields, body: ByteBuffer, otherSignsHeads: Bool? = true
    ) async throws -> SignallingClient.Answer {
        var client = SignallingClient()
        let driver = client.makeDriver()
        let service = try await ClusterService.start(
            try FixedDirectory.ofOther(signsHeads: otherSignsHeads), driver)
        client.cluster = service
        let answer = try await client.answer(driver, .post, CascadeRequests.path, headers: try headers(), bytes: body)
        await service.close()
        await driver.close()
        return answer
    }

    /// The fields of a message that the relay `b` has signed.
    private func signed(
        _ body: ByteBuffer, after seconds: Double = 0, withHead: Bool = true
    ) throws -> HTTPFields {
        let node = try #require(NodeID(rawValue: "a"))
        let bytes = Array(buffer: body)
        let time = Date.now.timeIntervalSince1970 + seconds
        let signature = try #require(secret.signature(of: Self.line, body: bytes, to: node, time: time))
        var headers: HTTPFields = [.relaySignature: signature]
        if withHead {
            headers[.relayHeadSignature] = secret.headSignature(
                of: Self.line, signature: signature, bodySize: bytes.count, to: node)
        }
        return headers
    }

    /// A signature that nobody has made.
    private func forgery() -> String { "\(Int(Date.now.timeIntervalSince1970) + 10).AAAAAAAAAAAAAAAAAAAAAA" }

    @Test("have no body read that nobody has signed, or whose signature is made up")
    func unsigned() async throws {
        // The relay reads no body of this length.
        let body = ByteBuffer(repeating: 0, count: CascadeRequests.bodySize + 1)
        #expect(try await send({ [:] }, body: body).status == .unauthorized)
        #expect(try await send({ [.relaySignature: forgery()] }, body: body).status == .unauthorized)
        let head = "\(body.readableBytes).AAAAAAAAAAAAAAAAAAAAAA"
        let both = { () -> HTTPFields in [.relaySignature: forgery(), .relayHeadSignature: head] }
        #expect(try await send(both, body: body).status == .unauthorized)
    }

    @Test("have only as much of a body read as their signed head says")
    func longerBody() async throws {
        for (text, status) in [
            ("{}", HTTPResponse.Status.badRequest), ("{ }", .contentTooLarge), ("[]", .unauthorized),
        ] {
            let answer = try await send(
                { try signed(ByteBuffer(string: "{}")) }, body: ByteBuffer(string: text))
            #expect(answer.status == status, "\(text)")
        }
    }

    @Test("are taken without a signed head while a relay of the last version is in the cluster")
    func lastVersion() async throws {
        let body = ByteBuffer(string: "{}")
        for (signsHeads, status) in [(nil, HTTPResponse.Status.badRequest), (true, .unauthorized)] {
            let answer = try await send(
                { try signed(body, withHead: false) }, body: body, otherSignsHeads: signsHeads)
            #expect(answer.status == status)
        }
    }

    @Test("are refused with the reason when the clocks of two relays differ", arguments: [-40.0, 40])
    func clocks(difference: Double) async throws {
        let body = ByteBuffer(string: "{}")
        let answer = try await send({ try signed(body, after: difference) }, body: body)
        #expect(answer.status == .unauthorized && answer.detail.contains("clocks"), "\(answer.detail)")
    }

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
