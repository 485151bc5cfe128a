import Testing

@testable import ConferenceClient
@testable import confbench

@Suite("Joining times")
struct JoiningResultTests {
    private func join(_ pictures: Double?) throws -> ClientReport.Join {
        .init(transport: "dtls", secondsToAnswer: 0.002, secondsToConnect: 0.02, secondsToFirstPicture: pictures)
    }

    @Test("the middle and the longest are shown, in milliseconds")
    func figures() throws {
        let result = JoiningResult(transport: "dtls", joins: try [0.3, 0.1, 0.4, 0.2].map(join))
        let figures = try #require(result.figures(\.secondsToFirstPicture))
        #expect(figures.median == 0.25 && figures.longest == 0.4)
        #expect(JoiningResult.table([result]).contains("250.0 |   400.0 |"))
    }

    @Test("a client that saw nothing counts in the median")
    func nothingSeen() throws {
        let result = JoiningResult(transport: "dtls", joins: [try join(0.1), try join(nil)])
        #expect(result.figures(\.secondsToFirstPicture) == nil)
        #expect(JoiningResult.table([result]).contains("never"))
    }
}
