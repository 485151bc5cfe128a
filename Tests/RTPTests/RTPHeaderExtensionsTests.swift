import MediaCore
import NIOCore
import Testing

@testable import RTP

struct RTPHeaderExtensionsTests {
    @Test func `the one-byte example of RFC 8285 reads`() {
        // Section 4.2: one byte, two bytes, two bytes of padding, four bytes.
        let extensions = RTPHeaderExtensions(
            profile: 0xBEDE, bytes: ByteBuffer(hex: "10 A1  21 B1B2  00 00  33 C1C2C3C4"))
        #expect(extensions.ids == [1, 2, 3])
        #expect(extensions[1] == ByteBuffer(hex: "A1"))
        #expect(extensions[2] == ByteBuffer(hex: "B1B2"))
        #expect(extensions[3] == ByteBuffer(hex: "C1C2C3C4"))
        #expect(extensions[4] == nil)
    }

    @Test func `the two-byte example of RFC 8285 reads`() {
        // Section 4.3: an empty value, one byte, a byte of padding, four bytes.
        let extensions = RTPHeaderExtensions(
            profile: 0x1000, bytes: ByteBuffer(hex: "01 00  02 01 A1  00  03 04 B1B2B3B4"))
        #expect(extensions.ids == [1, 2, 3])
        #expect(extensions[1] == ByteBuffer())
        #expect(extensions[2] == ByteBuffer(hex: "A1"))
        #expect(extensions[3] == ByteBuffer(hex: "B1B2B3B4"))
    }

    @Test func `the low bits of the two-byte form's profile do not matter`() {
        #expect(RTPHeaderExtensions(profile: 0x100F, bytes: ByteBuffer(hex: "0201A100"))[2] == ByteBuffer(hex: "A1"))
    }

    @Test(arguments: [
        // Identifier 15, identifier 0 with a length, and a length beyond the end each end the list.
        "10A1 F0B1 20C1 0000", "10A1 03 000000 20C1 00", "10A1 2F C1",
    ])
    func `what is malformed ends the list, what is in front of it counts`(hex: String) {
        let extensions = RTPHeaderExtensions(profile: 0xBEDE, bytes: ByteBuffer(hex: hex))
        #expect(extensions.ids == [1])
    }

    @Test func `an element can be added behind a malformed one`() {
        var extensions = RTPHeaderExtensions(profile: 0xBEDE, bytes: ByteBuffer(hex: "10A1 F0B1"))
        extensions[2] = ByteBuffer(hex: "C1")
        #expect(extensions.ids == [1, 2])
    }

    @Test func `another profile's extension has no elements and is kept whole`() throws {
        let datagram = ByteBuffer(hex: "90600001 00000002 00000003 CAFE0001 10A12121 FF")
        let packet = try RTPPacket(parsing: datagram)
        #expect(packet.extensions.ids.isEmpty)
        #expect(packet.encode() == datagram)
    }

    @Test func `short values are written in the one-byte form and padded to a word`() {
        var packet = RTPPacket.numbered(1)
        packet.payload = ByteBuffer()
        packet.extensions.setTransportSequenceNumber(0x0102, id: 3)
        packet.extensions.setAudioLevel(AudioLevel(decibelsBelowOverload: 30, isVoice: true), id: 1)
        #expect(packet.encode().hex.hasSuffix("bede0002310102109e000000"))
        #expect(packet.headerSize == 24)
    }

    @Test(arguments: [UInt8(15), 200])
    func `an identifier above 14 makes the two-byte form`(id: UInt8) {
        var extensions = RTPHeaderExtensions()
        extensions.setTransportSequenceNumber(0x0102, id: 3)
        extensions[id] = ByteBuffer(hex: "AA")
        #expect(extensions.form == .twoByte)
        #expect(extensions.ids == [3, id])
        #expect(extensions.transportSequenceNumber(id: 3) == 0x0102)
    }

    @Test(arguments: [0, 17, 255])
    func `a value that is empty or longer than 16 bytes makes the two-byte form`(length: Int) {
        var extensions = RTPHeaderExtensions()
        extensions[1] = ByteBuffer(hex: "AA")
        let value = ByteBuffer(repeating: 7, count: length)
        extensions[2] = value
        #expect(extensions.form == .twoByte)
        #expect(extensions[1] == ByteBuffer(hex: "AA"))
        #expect(extensions[2] == value)
    }

    @Test func `what RFC 8285 cannot say is not stored`() {
        var extensions = RTPHeaderExtensions()
        extensions[0] = ByteBuffer(hex: "AA")
        extensions[1] = ByteBuffer(repeating: 7, count: 256)
        #expect(extensions.isEmpty)
        #expect(extensions.encodedSize == 0)
    }

    @Test func `a value of the same length is replaced in place`() {
        var extensions = RTPHeaderExtensions()
        extensions.setTransportSequenceNumber(1, id: 5)
        extensions[6] = ByteBuffer(hex: "AABB")
        let size = extensions.encodedSize
        extensions.setTransportSequenceNumber(2, id: 5)
        #expect(extensions.encodedSize == size)
        #expect(extensions.ids == [5, 6])
        #expect(extensions.transportSequenceNumber(id: 5) == 2)
    }

    @Test func `a value of another length takes the old one's place in the list only`() {
        var extensions = RTPHeaderExtensions()
        extensions[5] = ByteBuffer(hex: "AABB")
        extensions[6] = ByteBuffer(hex: "CC")
        extensions[5] = ByteBuffer(hex: "DDEEFF")
        #expect(Set(extensions.ids) == [5, 6])
        #expect(extensions[5] == ByteBuffer(hex: "DDEEFF"))
        #expect(extensions[6] == ByteBuffer(hex: "CC"))
    }

    @Test func `removing the last element removes the extension`() {
        var extensions = RTPHeaderExtensions()
        extensions[5] = ByteBuffer(hex: "AABB")
        extensions[6] = ByteBuffer(hex: "CC")
        extensions[5] = nil
        #expect(extensions.ids == [6])
        extensions[6] = nil
        #expect(extensions.isEmpty)
    }

    @Test func `writing to a parsed packet's extensions leaves the datagram alone`() throws {
        var packet = RTPPacket.numbered(1)
        packet.extensions.setTransportSequenceNumber(1, id: 5)
        let datagram = packet.encode()
        var parsed = try RTPPacket(parsing: datagram)
        parsed.extensions.setTransportSequenceNumber(2, id: 5)
        #expect(parsed.extensions.transportSequenceNumber(id: 5) == 2)
        #expect(datagram == packet.encode())
    }

    @Test func `an audio level reads as RFC 6464 has it`() {
        let extensions = RTPHeaderExtensions(profile: 0xBEDE, bytes: ByteBuffer(hex: "10 FF 20 1E"))
        #expect(extensions.audioLevel(id: 1) == AudioLevel(decibelsBelowOverload: 127, isVoice: true))
        #expect(extensions.audioLevel(id: 2) == AudioLevel(decibelsBelowOverload: 30))
        #expect(extensions.audioLevel(id: 3) == nil)
    }

    @Test func `an empty audio level in the two-byte form is none`() {
        #expect(RTPHeaderExtensions(profile: 0x1000, bytes: ByteBuffer(hex: "01000000")).audioLevel(id: 1) == nil)
    }

    @Test func `a transport sequence number with a feedback request behind it still reads`() {
        let extensions = RTPHeaderExtensions(profile: 0xBEDE, bytes: ByteBuffer(hex: "13 0102 8001"))
        #expect(extensions.transportSequenceNumber(id: 1) == 0x0102)
    }

    @Test func `the absolute send time is 6 bits of seconds and 18 of their fraction`() {
        var extensions = RTPHeaderExtensions()
        extensions.setAbsoluteSendTime(.milliseconds(64_000 + 1_500), id: 2)
        #expect(extensions[2] == ByteBuffer(hex: "060000"))
        #expect(extensions.absoluteSendTime(id: 2)?.rawValue == 0x60000)
    }

    @Test func `send times are compared across the 64-second wrap`() {
        let earlier = AbsoluteSendTime(.milliseconds(63_750))
        let later = AbsoluteSendTime(.milliseconds(64_250))
        #expect(later.duration(since: earlier) == .milliseconds(500))
        #expect(earlier.duration(since: later) == .milliseconds(-500))
    }
}
