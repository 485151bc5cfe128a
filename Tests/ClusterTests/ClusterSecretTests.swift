import Testing

@testable import Cluster

@Suite("The signatures of a cluster")
struct ClusterSecretTests {
    private let secret = ClusterSecret(Array(repeating: 7, count: ClusterSecret.size))

    private func ticket() throws -> (ClusterSecret.Ticket, NodeID) {
        let node = try #require(NodeID(rawValue: "b"))
        let ticket = ClusterSecret.Ticket(
            room: "demo", node: node, expiry: 110, hops: 1, grant: #"{"room":"*"}"#, former: #"{"id":"k3v9"}"#)
        return (ticket, node)
    }

    @Test("are read by the relay that they are for, for that room and for that time")
    func tickets() throws {
        let (ticket, node) = try ticket()
        let text = try #require(secret.sign(ticket))
        #expect(secret.ticket(text, node: node, room: "demo", time: 100) == ticket)
        #expect(secret.ticket(text, node: node, room: "other", time: 100) == nil)
        #expect(secret.ticket(text, node: try #require(NodeID(rawValue: "c")), room: "demo", time: 100) == nil)
        // Clocks may differ by some seconds.
        #expect(secret.ticket(text, node: node, room: "demo", time: 114) == ticket)
        #expect(secret.ticket(text, node: node, room: "demo", time: 115) == nil)
        let other = ClusterSecret(Array(repeating: 8, count: ClusterSecret.size))
        #expect(other.ticket(text, node: node, room: "demo", time: 100) == nil)
    }

    @Test("are refused with any character changed, cut short or made up")
    func forgeries() throws {
        let (ticket, node) = try ticket()
        let text = try #require(secret.sign(ticket))
        for index in text.indices {
            var forged = text
            forged.replaceSubrange(index...index, with: text[index] == "A" ? "B" : "A")
            #expect(secret.ticket(forged, node: node, room: "demo", time: 100) == nil, "\(forged)")
        }
        for forged in ["", ".", "..", "e30.", ".e30", String(text.dropLast()), String(repeating: "a", count: 100_000)] {
            #expect(secret.ticket(forged, node: node, room: "demo", time: 100) == nil, "\(forged.prefix(40))")
        }
    }

    @Test("make a participant the same at another relay, in the same room only")
    func rejoining() throws {
        let key = try #require(secret.rejoinKey(of: "k3v9", in: "demo", time: 100.5))
        let former = try #require(secret.participant(ofRejoinKey: key, in: "demo"))
        #expect(former == ("k3v9", 100))
        #expect(secret.participant(ofRejoinKey: key, in: "other") == nil)
        #expect(secret.participant(ofRejoinKey: "x7c2" + key.dropFirst(4), in: "demo") == nil)
        let younger = key.replacing(".100.", with: ".101.")
        for forged in [younger, "k3v9.", "k3v9..", "k3v9.100.", "k3v9.9223372036854775808." + key.suffix(22)] {
            #expect(secret.participant(ofRejoinKey: forged, in: "demo") == nil, "\(forged)")
        }
    }

    @Test("are read with the longest claims and the longest telling of a former participant")
    func longestTicket() throws {
        let node = try #require(NodeID(rawValue: String(repeating: "n", count: NodeID.maximumLength)))
        // Each quote takes two bytes.
        let ticket = ClusterSecret.Ticket(
            room: String(repeating: "r", count: 64), node: node, expiry: 1_700_000_000.123_456, hops: 3,
            grant: String(repeating: "\"", count: ClusterSecret.maximumGrantSize),
            former: String(repeating: "\"", count: ClusterSecret.maximumFormerSize), isFurther: true,
            client: "2001:db8:1111:2222:3333:4444:5555:6666")
        let text = try #require(secret.sign(ticket))
        #expect(secret.ticket(text, node: node, room: nil, time: 1_700_000_000) == ticket)
    }

    @Test("show of a request's head alone that a relay has made it, and how long its body is")
    func heads() throws {
        let (node, other) = (try #require(NodeID(rawValue: "b")), try #require(NodeID(rawValue: "c")))
        let line = "PUT /cascade/links/l"
        let signature = try #require(secret.signature(of: line, body: [1, 2, 3], to: node, time: 100))
        let head = try #require(secret.headSignature(of: line, signature: signature, bodySize: 3, to: node))
        func size(
            _ head: String, of line: String = line, signature: String = signature, node: NodeID = node
        ) -> Int? {
            secret.bodySize(ofHeadSignature: head, of: line, signature: signature, node: node)
        }
        #expect(size(head) == 3)
        #expect(size(head, of: "PUT /cascade/links/m") == nil)
        #expect(size(head, signature: signature + "A") == nil)
        #expect(size(head, node: other) == nil)
        // As long as no signature is.
        let text = String(repeating: "A", count: 5000)
        let long = try #require(secret.headSignature(of: line, signature: text, bodySize: 3, to: node))
        #expect(size(long, signature: text) == nil)
        let code = head.dropFirst(2)
        for forged in ["", ".", "3", "3.", "4.\(code)", "-3.\(code)", "03.\(code)", String(head.dropLast())] {
            #expect(size(forged) == nil, "\(forged)")
        }
    }
}
