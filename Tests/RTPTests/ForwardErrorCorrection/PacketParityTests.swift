import MediaCore
import NIOCore
import Testing

@testable import RTP

@Suite struct PacketParityTests {
    @Test("a true repair packet may restore any of its packets, by their headers, and of random ones few may")
    func possible() throws {
        var stream = ProtectedStream(Protection(rate: 0.01, delay: .zero))
        let (media, repair) = stream.frame(40)
        var payload = try #require(repair.first).payload
        let header = try FlexFECHeader(reading: &payload)
        var possibleCount = 0
        for missing in media.indices {
            var nonsense = header
            nonsense.length = stream.random.integer()
            nonsense.flags = stream.random.integer()
            var parities = (PacketParity(header, bytes: payload), PacketParity(nonsense, bytes: payload))
            for index in media.indices where index != missing {
                parities.0.addHeader(media[index].encode())
                parities.1.addHeader(media[index].encode())
            }
            #expect(parities.0.isPossible)
            if parities.1.isPossible { possibleCount += 1 }
        }
        #expect(possibleCount < 5, "\(possibleCount)")
    }
}
