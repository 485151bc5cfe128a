import HostileBytes
import MediaCore
import NIOCore
import Testing

@testable import SecureTransport

@Suite struct STUNMessageTests {
    private static let transactionID = STUNTransactionID(high: 0xB7E7_A701, low: 0xBC34_D686_FA87_DFAE)
    private static let key = HMACSHA1Key(Array(STUNVectors.password.utf8))

    @Test("the request of RFC 5769 is read and authentic")
    func sampleRequest() throws {
        let message = try STUNMessage(parsing: STUNVectors.request)
        #expect(message.messageClass == .request)
        #expect(message.method == STUNMessage.bindingMethod)
        #expect(message.transactionID == Self.transactionID)
        #expect(message.username == "evtj:h6vY")
        #expect(message.priority == 0x6E00_01FF)
        #expect(message.role == .controlled(tieBreaker: 0x932F_F9B1_5126_3B36))
        #expect(message.hasFingerprint && !message.nominates)
        #expect(message.unknownAttributes.count == 0)
        #expect(message.isAuthentic(key: Self.key))
        for other in ["VOkJxbRl1RmTxUk/WvJxBu", ""] {
            #expect(!message.isAuthentic(key: HMACSHA1Key(Array(other.utf8))))
        }
    }

    @Test("the responses of RFC 5769 are read and authentic")
    func sampleResponses() throws {
        for (bytes, host) in [
            (STUNVectors.responseIPv4, "192.0.2.1"), (STUNVectors.responseIPv6, "2001:db8:1234:5678:11:2233:4455:6677"),
        ] {
            let message = try STUNMessage(parsing: bytes)
            #expect(message.messageClass == .successResponse)
            #expect(message.mappedAddress == TransportAddress(host: host, port: 32_853))
            #expect(message.isAuthentic(key: Self.key))
        }
    }

    @Test("the builder's messages read back", arguments: ["192.0.2.1", "2001:db8::7"])
    func roundTrip(host: String) throws {
        let address = try #require(TransportAddress(host: host, port: 7_000))
        var builder = STUNMessageBuilder(.request, transactionID: Self.transactionID)
        builder.append(username: Array("abcd:efghi".utf8))
        builder.append(priority: 77)
        builder.append(.controlling(tieBreaker: 0x0102_0304_0506_0708))
        builder.appendUseCandidate()
        builder.append(mappedAddress: address)
        builder.append(errorCode: 487)
        builder.appendIntegrity(key: Self.key)
        let message = try STUNMessage(parsing: builder.finish())
        #expect(message.messageClass == .request)
        #expect(message.username == "abcd:efghi")
        #expect(message.hasUsername(Array("abcd:efghi".utf8)) && !message.hasUsername(Array("abcd:efgh".utf8)))
        #expect(message.priority == 77)
        #expect(message.role == .controlling(tieBreaker: 0x0102_0304_0506_0708))
        #expect(message.nominates)
        #expect(message.mappedAddress == address)
        #expect(message.errorCode == 487)
        #expect(message.isAuthentic(key: Self.key))
    }

    @Test("each class and method is written as it is read")
    func types() throws {
        for messageClass in [STUNMessage.Class.request, .indication, .successResponse, .errorResponse] {
            for method: UInt16 in [1, 2, 0x10, 0x7F, 0x80, 0xABC, 0xFFF] {
                var builder = STUNMessageBuilder(messageClass, method: method, transactionID: Self.transactionID)
                let message = try STUNMessage(parsing: builder.finish())
                #expect(message.messageClass == messageClass)
                #expect(message.method == method)
            }
        }
    }

    @Test("every changed bit is noticed, by the fingerprint or by the integrity")
    func changedBits() {
        let original = Array(STUNVectors.request.readableBytesView)
        for index in original.indices {
            for bit in 0..<8 {
                var bytes = original
                bytes[index] ^= 1 << UInt8(bit)
                let message = try? STUNMessage(parsing: ByteBuffer(bytes: bytes))
                // A change that makes the fingerprint an unknown attribute leaves the integrity valid; ICE finds the
                // fingerprint missing.
                #expect(message == nil || message?.hasFingerprint == false)
            }
        }
    }

    @Test("each way to be wrong has its error")
    func errors() {
        func error(_ change: (inout [UInt8]) -> Void) -> STUNError? {
            var bytes = Array(STUNVectors.request.readableBytesView)
            change(&bytes)
            do {
                _ = try STUNMessage(parsing: ByteBuffer(bytes: bytes))
                return nil
            } catch { return error }
        }
        #expect(error { $0.removeLast($0.count - 19) } == .unacceptableSize(byteCount: 19))
        #expect(error { $0 += [UInt8](repeating: 0, count: 1_300) } == .unacceptableSize(byteCount: 1_408))
        #expect(error { $0[0] = 0x80 } == .notSTUN)
        #expect(error { $0[4] = 0 } == .notSTUN)
        #expect(error { $0[3] -= 4 } == .wrongLength)
        #expect(error { $0.removeLast() } == .wrongLength)
        #expect(error { $0[20 + 3] = 0xFF } == .malformedAttribute(type: 0x8022))
        #expect(error { $0[30] ^= 1 } == .wrongFingerprint)
    }

    @Test("nothing may follow the fingerprint")
    func fingerprintIsLast() {
        var builder = STUNMessageBuilder(.request, transactionID: Self.transactionID)
        var bytes = builder.finishWithoutFingerprint()
        bytes.setInteger(UInt16(12), at: 2)
        bytes.writeInteger(UInt32(0x8028_0004))
        bytes.writeInteger(CRC32.checksum(of: bytes, upTo: 20) ^ 0x5354_554E)
        bytes.writeInteger(UInt32(0x0025_0000))
        #expect(throws: STUNError.malformedAttribute(type: 0x25)) { _ = try STUNMessage(parsing: bytes) }
    }

    @Test("attributes after the integrity are ignored")
    func unprotectedAttributes() throws {
        var builder = STUNMessageBuilder(.request, transactionID: Self.transactionID)
        builder.append(username: Array("abcd:efgh".utf8))
        builder.appendIntegrity(key: Self.key)
        builder.appendUseCandidate()
        let message = try STUNMessage(parsing: builder.finish())
        #expect(!message.nominates)
        #expect(message.isAuthentic(key: Self.key))
    }

    @Test("attributes that have to be understood and are not are listed, up to a limit")
    func unknownAttributes() throws {
        var bytes = Array(STUNVectors.request.readableBytesView.prefix(20))
        for type: UInt8 in 0x31...0x39 { bytes += [0, type, 0, 1, 0xFF, 0, 0, 0] }
        bytes += [0xC0, 0x57, 0, 4, 0, 0, 0, 1, 0, 0x1C, 0, 4, 1, 2, 3, 4]
        bytes[3] = UInt8(bytes.count - 20)
        let message = try STUNMessage(parsing: ByteBuffer(bytes: bytes))
        #expect(
            (0..<message.unknownAttributes.count).map { message.unknownAttributes[$0] } == [0x31, 0x32, 0x33, 0x34])
    }

    @Test("a message in the middle of a buffer is read from there")
    func offset() throws {
        var buffer = ByteBuffer(bytes: [1, 2, 3])
        buffer.writeImmutableBuffer(STUNVectors.request)
        buffer.moveReaderIndex(forwardBy: 3)
        #expect(try STUNMessage(parsing: buffer).isAuthentic(key: Self.key))
        #expect(STUNMessage.localUsernameFragment(of: buffer) == "evtj")
    }

    @Test("the fragment of the receiver is found without more ado")
    func peek() {
        #expect(STUNMessage.localUsernameFragment(of: STUNVectors.request) == "evtj")
        #expect(STUNMessage.localUsernameFragment(of: STUNVectors.responseIPv4) == nil)
        #expect(STUNMessage.localUsernameFragment(of: ByteBuffer(bytes: [0, 1, 0, 0])) == nil)
        var builder = STUNMessageBuilder(.request, transactionID: Self.transactionID)
        builder.append(priority: 5)
        builder.append(username: Array("withoutcolon".utf8))
        #expect(STUNMessage.localUsernameFragment(of: builder.finish()) == nil)
    }

    @Test("changed messages are read or refused without a trap, and count as authentic only if equal to the sent ones")
    func mutations() {
        var generator = SeededGenerator(seed: 5_769)
        let samples = [STUNVectors.request, STUNVectors.responseIPv4, STUNVectors.responseIPv6]
        var readable = 0
        for round in 0..<12_000 {
            let sample = Array(samples[round % samples.count].readableBytesView)
            var bytes = generator.mutate(sample)
            if round.isMultiple(of: 2), bytes.count >= 20, bytes.count < 1_280 {
                // With its length and fingerprint put right, as one who is hostile would.
                bytes = Array(Self.completed(bytes).readableBytesView)
            }
            let buffer = ByteBuffer(bytes: bytes)
            _ = STUNMessage.localUsernameFragment(of: buffer)
            guard let message = try? STUNMessage(parsing: buffer) else { continue }
            readable += 1
            let whole = message.integrityOffset.map { sample[20..<$0] == bytes[20..<$0] && bytes[0] == sample[0] }
            #expect(message.isAuthentic(key: Self.key) == false || whole == true)
        }
        #expect(readable > 300)
    }

    private static func completed(_ bytes: [UInt8]) -> ByteBuffer {
        var buffer = ByteBuffer(bytes: bytes.prefix(bytes.count & ~3))
        buffer.setInteger(UInt16(buffer.readableBytes - 12), at: 2)
        buffer.setInteger(UInt32(0x2112_A442), at: 4)
        let checksum = CRC32.checksum(of: buffer)
        buffer.writeInteger(UInt32(0x8028_0004))
        buffer.writeInteger(checksum ^ 0x5354_554E)
        return buffer
    }
}
