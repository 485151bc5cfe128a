import SecureTransport
import Testing

@testable import RoomMedia

@Suite("The machine's addresses")
struct LocalAddressTests {
    private static let loopback = TransportAddress(ipv4: 0x7F00_0001, port: 7000)
    private static let first = TransportAddress(ipv4: 0xC000_020A, port: 7000)
    private static let second = TransportAddress(ipv4: 0xC000_020B, port: 7000)

    @Test("the one that others know stays while the machine has it, unless only the machine itself can use it")
    func lasting() {
        let cases: [(TransportAddress, [TransportAddress], TransportAddress)] = [
            (Self.first, [Self.second, Self.first, Self.loopback], Self.first),
            (Self.first, [Self.second, Self.loopback], Self.second),
            (Self.first, [Self.loopback], Self.loopback),
            (Self.loopback, [Self.first, Self.loopback], Self.first),
            (Self.loopback, [Self.loopback], Self.loopback),
            (Self.first, [], Self.first),
        ]
        for (former, addresses, expected) in cases {
            #expect(LocalAddresses.lasting(former, in: addresses) == expected, "\(former) of \(addresses)")
        }
    }
}
