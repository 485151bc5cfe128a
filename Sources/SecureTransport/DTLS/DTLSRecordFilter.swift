internal import NIOCore

/// Checks the record headers of datagrams (RFC 6347, section 4.1; RFC 9147, section 4) before the library reads them.
/// It drops records that no honest peer sends in the state of the connection, and those that would use unnecessary
/// memory in the library.
struct DTLSRecordFilter {
    /// The verdict on a datagram.
    enum Verdict: Hashable {
        /// A datagram to give to the library.
        case acceptable
        /// All records have numbers that have been seen. The library gets the datagram and drops records that it has
        /// processed. Only the library can decide, because a forged record may have come before the true one.
        case replayed
        /// Its records are not put together as records are, or one is too short to have been protected.
        case malformed
        /// Data, of which there is none in DTLS-SRTP, or more protected records than a handshake can need.
        case unexpected
    }

    /// The most protected records before the handshake is complete. The library keeps records that come before it has
    /// the keys, each in a buffer of 17 kB. An honest peer sends one with each of its last flights.
    static let maximumEarlyRecordCount = 16

    /// The largest number of records in a datagram. A flight has six messages, and fragments of them.
    private static let maximumRecordCount = 32
    private static let rememberedCount = 64

    private var earlyRecordCount = 0
    /// The numbers of the records that came last, the oldest at `oldest` once there are as many as are remembered.
    private var numbers: [UInt64] = []
    private var oldest = 0

    /// - Parameter protection: Bytes that a protected record has beyond its content. The library takes a shorter one
    ///   for an error of its own, and ends the association (OpenSSL 3.0): anyone could send that.
    mutating func inspect(_ datagram: ByteBuffer, isEstablished: Bool, protection: Int) -> Verdict {
        guard let records = Self.records(of: datagram),
            records.allSatisfy({ !$0.isProtected || $0.length ?? protection >= protection })
        else { return .malformed }
        guard !records.allSatisfy(\.isApplicationData) else { return .unexpected }
        if !isEstablished {
            let protectedCount = records.count(where: \.isProtected)
            guard earlyRecordCount + protectedCount <= Self.maximumEarlyRecordCount else { return .unexpected }
            earlyRecordCount += protectedCount
        }
        guard records.contains(where: { isNew($0) }) else { return .replayed }
        for case let number? in records.map(\.number) { remember(number) }
        return .acceptable
    }

    /// The records' headers; nil when the datagram is not made of whole records.
    private static func records(of datagram: ByteBuffer) -> [DTLSRecordHeader]? {
        var records: [DTLSRecordHeader] = []
        var rest = datagram
        while rest.readableBytes > 0 {
            guard records.count < maximumRecordCount, let record = DTLSRecordHeader.take(from: &rest) else {
                return nil
            }
            records.append(record)
        }
        return records.isEmpty ? nil : records
    }

    private func isNew(_ record: DTLSRecordHeader) -> Bool {
        record.number.map { !numbers.contains($0) } ?? true
    }

    private mutating func remember(_ number: UInt64) {
        guard !numbers.contains(number) else { return }
        if numbers.count < Self.rememberedCount {
            numbers.append(number)
        } else {
            numbers[oldest] = number
            oldest = (oldest + 1) % Self.rememberedCount
        }
    }
}
