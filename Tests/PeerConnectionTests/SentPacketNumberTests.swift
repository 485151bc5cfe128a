import Testing

@testable import PeerConnection

/// The numbers of sent packets, for feedback that names them by their sources.
@Suite struct SentPacketNumberTests {
    @Test("the packets of a source are known until it ends, and those of others stay")
    func ended() {
        var numbers = SentPacketNumbers()
        numbers.add(ssrc: 1, sequence: 65_535, transportSequence: 7)
        numbers.add(ssrc: 2, sequence: 3, transportSequence: 8)
        #expect(numbers.transportSequence(ssrc: 1, sequence: 65_535) == 7)
        numbers.endSources { $0 == 2 }
        #expect(numbers.transportSequence(ssrc: 1, sequence: 65_535) == nil)
        #expect(numbers.transportSequence(ssrc: 2, sequence: 3) == 8)
    }
}
