import ArgumentParser
import LinkEmulation
import RoomMedia
import SecureTransport

/// The addresses of the relay.
struct NetworkOptions: ParsableArguments {
    @Option(
        help: "Port for TCP and UDP; 0 picks one that is free for both. (default: 7000)",
        transform: UInt16.init(port:))
    var port: UInt16 = 7000

    @Option(
        help: ArgumentHelp(
            "Address to listen on.",
            discussion: """
                127.0.0.1 serves this machine only. 0.0.0.0 (or :: with IPv6) opens the relay to other machines. \
                Offers with SRTP keys in them (a=crypto) are accepted from other machines only by HTTPS or through a \
                TLS proxy.
                """))
    var host = "127.0.0.1"

    @Option(
        help: ArgumentHelp(
            "IP address that clients send media to; repeatable, one for each address family.",
            discussion: "Needed behind NAT. Default: the address of --host, or this machine's addresses for 0.0.0.0.",
            valueName: "address"),
        transform: TransportAddress.init(option:))
    var publicAddress: [TransportAddress] = []

    @Option(
        help: ArgumentHelp(
            "IP address of a reverse proxy in front of the relay, or the network of several (10.0.0.0/8); repeatable.",
            discussion: """
                One address may hold at most half of all HTTP connections. A reverse proxy stands for many clients and \
                may hold all of them, so it has to limit its clients itself. 127.0.0.1 is trusted only if it is given.
                """,
            valueName: "address"),
        transform: NetworkPrefix.init(option:))
    var trustedProxy: [NetworkPrefix] = []

    @Option(
        help: ArgumentHelp(
            "Emulate a slow network from the relay to each participant.",
            discussion: LinkProfile.syntax, valueName: "link"),
        transform: LinkProfile.init(option:))
    var emulateDownlink: LinkProfile?
}
