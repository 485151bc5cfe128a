import AudioMixing
import LinkEmulation
import MediaCore
import MediaFixtures
import NIOCore
import RTP
import RoomAPI
import SDP
import Testing
import VideoCoding

@testable import Conference
@testable import PeerConnection

/// How far the sound of a room is behind the pictures of the same instant. Ada says something every second, and turns
/// from red to green with it.
@Suite struct RoomLipSyncTests {
    private static let size = VideoDimensions(width: 256, height: 144)
    /// Sound comes later by what two encoders look ahead, and by a part of a millisecond.
    private static let codecs = 0.0135

    private typealias Change = (time: Double, isOn: Bool)

    private func makeCall(_ forwarding: ForwardingMode) -> VirtualCall {
        VirtualCall {
            $0.frameRate = 50
            $0.forwarding = forwarding
        }
    }

    private func joinAda(jitter: Int, to call: VirtualCall) throws -> TestClient {
        let ada = try call.join("Ada", colour: .red)
        ada.frameRate = 50
        let profile = LinkProfile(delay: .milliseconds(10), jitter: .milliseconds(jitter))
        ada.uplink = LinkModel(profile: profile, seed: 5, start: call.now)
        return ada
    }

    private func speak(_ ada: TestClient, run: (Duration) -> Void) {
        for index in 0..<14 {
            ada.isSilent = index % 2 == 0
            ada.colour = ada.isSilent ? .red : .green
            run(.milliseconds(500))
        }
    }

    private func heard(_ packet: ByteBuffer, by decoder: OpusDecoder, at time: Double) throws -> [Change] {
        try decoder.decode(packet).enumerated().map { (time + Double($0.offset) / 48_000, abs($0.element) > 0.05) }
    }

    /// The seconds by which sound begins later than it is seen, after reports have come.
    private func lags(pictures: [Change], sound: [Change]) -> [Double] {
        func starts(_ changes: [Change]) -> [Double] {
            zip(changes, changes.dropFirst()).filter { !$0.isOn && $1.isOn }.map(\.1.time)
        }
        let sound = starts(sound)
        return starts(pictures).suffix(4).compactMap { start in
            sound.map { $0 - start }.filter { abs($0) < 0.25 }.min()
        }
    }

    @Test(
        "the sound of a composite is with its pictures, whatever the jitter, and at whichever relay it is made",
        arguments: [0, 60], [false, true])
    func composite(jitter: Int, isElsewhere: Bool) throws {
        let pair = VirtualCascade(["a", "b"]) { $0.frameRate = 50 }
        let call = pair[isElsewhere ? 1 : 0]
        let ada = try joinAda(jitter: jitter, to: pair[0])
        if isElsewhere {
            try call.join("Ben", video: nil, audio: .receiveOnly)
            pair.run(for: .milliseconds(500))
            try pair.link(1, 0)
            try #require(pair.run { pair.remote("Ada", at: 1) != nil })
        }
        let request = RecordingRequest(mode: .composite, composite: CompositeSettings(size: Self.size))
        try call.relay.perform(.startRecording(id: "r1", request), room: "demo", now: call.now)
        speak(ada) { pair.run(for: $0) }
        let (decoder, opus) = (DecodingPipeline(), try OpusDecoder())
        var (pictures, sound): ([Change], [Change]) = ([], [])
        while let item = call.relay.pollRecording() {
            switch item.content {
            case .video(let sample, _):
                decoder.decode(sample) { event in
                    guard case .output(let output) = event, case .picture(let picture) = output.result else { return }
                    let isGreen = picture.pixelBuffer.colour(x: 128, y: 72).resembles(.green)
                    pictures.append((sample.presentationTime.seconds, isGreen))
                }
            case .audio(let packet, let time, _):
                sound += try heard(packet.contiguous(), by: opus, at: time.seconds)
            case .trackEnded, .anchored: break
            }
        }
        let lags = lags(pictures: pictures, sound: sound)
        #expect(lags.count == 4)
        // Pictures are made every 20 ms.
        let error = jitter == 0 ? 0.002 : 0.022
        #expect(lags.allSatisfy { abs($0 - Self.codecs) < error }, "\(lags)")
    }

    @Test("sender reports put the mix to the pictures beside it", arguments: [ForwardingMode.off, .auto])
    func reports(forwarding: ForwardingMode) throws {
        let call = makeCall(forwarding)
        let ada = try joinAda(jitter: 0, to: call)
        let ben = try call.join("Ben", colour: .blue)
        try call.join("Cyd", colour: .blue).isSilent = true
        ben.isSilent = true
        let layout = ParticipantLayout(.solo(participant: ada.participantID))
        try call.relay.perform(
            .setParticipantLayout(layout, participant: ben.participantID), room: "demo", now: call.now)
        var pictures: [Change] = []
        let origin = call.wallClock.ntpTime(at: .zero)
        ben.onPicture = { picture, time in
            let isGreen = picture.colour(x: picture.dimensions.width / 2, y: picture.dimensions.height / 2)
                .resembles(.green)
            pictures.append((time.duration(since: origin).seconds, isGreen))
        }
        speak(ada) { call.run(for: $0) }
        let opus = try OpusDecoder()
        let sound = try ben.audioPackets.flatMap { packet in
            try packet.senderTime.map {
                try heard(packet.payload, by: opus, at: $0.duration(since: origin).seconds)
            } ?? []
        }
        let participants = call.relay.snapshot(now: call.now).rooms[0].participants
        let downlink = try #require(participants.first { $0.id == ben.participantID }).downlink
        #expect((downlink.forwarding != nil) == (forwarding == .auto))
        let lags = lags(pictures: pictures, sound: sound)
        #expect(lags.count == 4)
        #expect(lags.allSatisfy { abs($0 - Self.codecs) < 0.002 }, "\(lags)")
    }
}
