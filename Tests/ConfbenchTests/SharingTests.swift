import Foundation
import LinkEmulation
import MediaCore
import Testing

@testable import confbench

@Suite("Receivers behind networks of their own")
struct SharingTests {
    @Test("a network is written as a table with the wanted part of its trace's rate")
    func scaledNetwork() throws {
        let directory = try ScratchDirectory()
        defer { directory.remove() }
        let rate = LinkRate.steps([
            LinkRate.Step(at: .zero, rate: .megabits(2)), LinkRate.Step(at: .seconds(1), rate: .kilobits(500)),
        ])
        let network = try SharingNetwork(
            name: "falls", rate: rate, scale: 0.2, duration: .seconds(4), path: directory.path(of: "falls.trace"))
        // (2 + 3 x 0.5) / 4 Mbit/s, of which a fifth.
        #expect(abs(network.capacity.kilobitsPerSecond - 175) < 1)
        let written = try LinkRate(parsingTrace: String(contentsOfFile: network.path, encoding: .utf8))
        func kilobits(_ from: Duration, _ to: Duration) throws -> Double {
            try Double(#require(written.capacity(from: from, to: to)).bits) / (to - from).seconds / 1000
        }
        #expect(abs(try kilobits(.zero, .seconds(1)) - 400) < 1)
        #expect(abs(try kilobits(.seconds(2), .seconds(4)) - 100) < 1)
    }

    @Test("ways are read in their order, and none that there is not")
    func ways() {
        #expect(CommaSeparated<CapacityWay>(argument: "shared,forwarding")?.values == [.shared, .forwarding])
        #expect(CommaSeparated<ConferenceWay>(argument: "dedicated")?.description == "dedicated")
        for refused in ["", "shared,", "all", "shared;priced"] {
            #expect(CommaSeparated<CapacityWay>(argument: refused) == nil)
        }
    }
}
