import MediaCore
import SecureTransport
import Testing

@testable import confbench

@Suite("GStreamer's pipeline")
struct GStreamerPipelineTests {
    private func keys(_ byte: UInt8) throws -> SRTPKeyMaterial {
        try #require(SRTPKeyMaterial(profile: .aeadAES128GCM, masterKeyAndSalt: Array(repeating: byte, count: 28)))
    }

    private func arguments(inputs: Int, outputs: Int) throws -> [String] {
        GStreamerPipeline(
            inputs: (0..<inputs).map { UInt16(5000 + $0) }, outputs: (0..<outputs).map { UInt16(6000 + $0) },
            keys: SRTPKeyPair(inbound: try keys(0x0A), outbound: try keys(0xB1))
        ).arguments
    }

    @Test("each stream is decrypted and each output encrypted, with their keys, by the relay's profile")
    func encryption() throws {
        let arguments = try arguments(inputs: 9, outputs: 2)
        #expect(arguments.count { $0 == "srtpdec" } == 9)
        #expect(arguments.count { $0 == "srtpenc" } == 2)
        #expect(arguments.count { $0 == "x264enc" } == 2)
        #expect(arguments.count { $0.contains("application/x-rtp,") } == 0)
        let received = String(repeating: "0a", count: 28)
        let caps = arguments.filter { $0.hasPrefix("caps=application/x-srtp,") }
        #expect(caps.count == 9)
        #expect(caps.allSatisfy { $0.contains("srtp-key=(buffer)\(received),srtp-cipher=aes-128-gcm,srtp-auth=null") })
        #expect(caps[8].contains("ssrc=(uint)\(RTPLoad.source(of: 8)),"))
        #expect(arguments.contains("key=" + String(repeating: "b1", count: 28)))
        #expect(arguments.contains("rtp-cipher=aes-128-gcm") && arguments.contains("rtp-auth=null"))
    }

    @Test("the tiles are the relay's")
    func tiles() throws {
        let arguments = try arguments(inputs: 9, outputs: 1)
        #expect(arguments.contains("sink_4::xpos=427") || arguments.contains("sink_4::xpos=426"))
        #expect(arguments.contains("sink_4::ypos=240") && arguments.contains("sink_4::width=426"))
        #expect(arguments.contains("sink_4::height=240"))
    }
}
