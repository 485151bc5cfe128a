import MediaFixtures
import OrderedCollections
import Testing

@testable import Conference

extension VirtualCascade {
    /// Ada and Al at the first of three relays, Ben and Cy at the others, without links.
    static func threeUnlinked() throws -> (relays: VirtualCascade, ada: TestClient, cy: TestClient) {
        let three = VirtualCascade(["a", "b", "c"])
        let ada = try three[0].join("Ada", colour: .red)
        try three[0].join("Al", colour: .yellow)
        try three[1].join("Ben", colour: .green)
        let cy = try three[2].join("Cy", colour: .blue)
        three.run(for: .milliseconds(500))
        return (three, ada, cy)
    }

    /// The same, all linked.
    static func three() throws -> (relays: VirtualCascade, ada: TestClient, cy: TestClient) {
        let (three, ada, cy) = try threeUnlinked()
        for (maker, other) in [(1, 0), (2, 0), (2, 1)] { try three.link(maker, other) }
        for index in 0..<3 { #expect(three.run { three.names(index) == ["Ada", "Al", "Ben", "Cy"] }) }
        three.run(for: .seconds(2))
        return (three, ada, cy)
    }

    /// Joins Ada at the second relay, by the id that she has.
    func move(_ ada: TestClient) throws {
        let again = try self[1].join(
            "Ada", colour: .red, returningAs: ada.participantID,
            adjustRequest: { $0.rejoiningAs = ada.participantID })
        #expect(again.participantID == ada.participantID)
    }

    /// The relay at which another one believes her.
    func relay(ofAdaAt index: Int) -> String? {
        remote("Ada", at: index)?.remote?.link.node
    }
}
