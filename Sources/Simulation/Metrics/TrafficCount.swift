import MediaCore

/// The packets and bytes of a flow in the measured time.
struct TrafficCount {
    private var sentPackets = 0
    private var receivedPackets = 0
    private var sentSize = DataSize.zero
    private var receivedSize = DataSize.zero

    mutating func sent(_ size: DataSize) {
        sentPackets += 1
        sentSize += size
    }

    mutating func received(_ size: DataSize) {
        receivedPackets += 1
        receivedSize += size
    }

    func addMetrics(to values: inout MetricValues) {
        values[.packetsSent] = Double(sentPackets)
        values[.packetsReceived] = Double(receivedPackets)
        values[.bytesSent] = Double(sentSize.bytes)
        values[.bytesReceived] = Double(receivedSize.bytes)
    }
}
