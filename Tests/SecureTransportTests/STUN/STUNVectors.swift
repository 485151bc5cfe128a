import NIOCore

/// The test vectors of RFC 5769, which RFC 8489 keeps.
enum STUNVectors {
    static let password = "VOkJxbRl1RmTxUk/WvJxBt"

    /// Section 2.1.
    static let request = bytes(
        """
        000100582112a442b7e7a701bc34d686fa87dfae
        802200105354554e207465737420636c69656e74
        002400046e0001ff
        80290008932ff9b151263b36
        000600096576746a3a68367659202020
        000800149aeaa70cbfd8cb56781ef2b5b2d3f249c1b571a2
        80280004e57a3bcf
        """)
    /// Section 2.2: 192.0.2.1, port 32853.
    static let responseIPv4 = bytes(
        """
        0101003c2112a442b7e7a701bc34d686fa87dfae
        8022000b7465737420766563746f7220
        002000080001a147e112a643
        000800142b91f599fd9e90c38c7489f92af9ba53f06be7d7
        80280004c07d4c96
        """)
    /// Section 2.3: 2001:db8:1234:5678:11:2233:4455:6677, port 32853.
    static let responseIPv6 = bytes(
        """
        010100482112a442b7e7a701bc34d686fa87dfae
        8022000b7465737420766563746f7220
        002000140002a1470113a9faa5d3f179bc25f4b5bed2b9d9
        00080014a382954e4be67bf11784c97c8292c275bfe3ed41
        80280004c8fb0b4c
        """)

    private static func bytes(_ hexadecimal: String) -> ByteBuffer {
        ByteBuffer(bytes: SRTPFixture.bytes(hexadecimal))
    }
}
