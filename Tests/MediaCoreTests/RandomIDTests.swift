import MediaCore
import Testing

@Suite struct RandomIDTests {
    @Test("ids have the length that is asked for, and no letters and digits that are taken for others")
    func characters() {
        var generator = SeededGenerator(seed: 9)
        let ids = (0..<200).map { _ in String.randomID(length: 12, using: &generator) }
        #expect(ids.allSatisfy { $0.count == 12 } && Set(ids).count == 200)
        #expect(Set(ids.joined()) == Set("abcdefghijkmnpqrstuvwxyz23456789"))
    }
}
