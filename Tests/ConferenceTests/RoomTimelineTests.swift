import Compositing
import CongestionControl
import LinkEmulation
import MediaCore
import MediaFixtures
import NIOCore
import RoomAPI
import SDP
import SecureTransport
import Testing

@testable import Conference
@testable import PeerConnection

/// The timeline of a room with real frames.
@Suite struct RoomTimelineTests {
    private func timeline(_ call: VirtualCall) throws -> RoomTimelineSnapshot {
        try #require(call.relay.timeline(ofRoom: "demo", now: call.now))
    }

    @Test("there is no timeline of a room that there is not")
    func noRoom() throws {
        let call = VirtualCall()
        #expect(call.relay.timeline(ofRoom: "demo", now: call.now) == nil)
        try call.join("Ada", colour: .red)
        #expect(call.relay.timeline(ofRoom: "demo", now: call.now) != nil)
    }

    @Test("a camera that stalls is shown as frozen because nothing came; the others are not")
    func stall() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red)
        try call.join("Ben", colour: .green)
        call.run(for: .seconds(3))
        ada.isSendingVideo = false
        call.run(for: .seconds(2))
        let sources = try timeline(call).sources
        #expect(sources.map(\.person.name) == ["Ada", "Ben"])
        let frozen = try #require(sources[0].states.last)
        #expect(frozen.state == .frozen && frozen.cause == .nothingArrived && abs(frozen.start + 2) < 0.15)
        #expect(sources[1].states.last?.state == .playing)
        ada.isSendingVideo = true
        call.run(for: .seconds(1))
        #expect(try timeline(call).sources[0].states.last?.state == .playing)
    }

    @Test("a camera whose packets are lost is frozen for that reason")
    func loss() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red)
        try call.join("Ben", colour: .green)
        call.run(for: .seconds(3))
        var count = 0
        call.drops = { datagram, isDownlink, client in
            guard !isDownlink, client === ada, datagram.readableBytes > 150 else { return false }
            count += 1
            return !count.isMultiple(of: 8)
        }
        call.run(for: .seconds(3))
        let source = try timeline(call).sources[0]
        #expect(source.states.contains { $0.state == .frozen && $0.cause == .packetsLost })
        #expect(source.packetsLost.total > 0)
    }

    @Test("a camera that turns is seen to change its size")
    func format() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red)
        call.run(for: .seconds(2))
        ada.dimensions = VideoDimensions(width: 90, height: 160)
        call.run(for: .seconds(1))
        let formats = try timeline(call).sources[0].formats
        #expect(formats.map { [$0.width, $0.height] } == [[160, 90], [90, 160]])
    }

    @Test("ticks at which the relay did not come are skipped ticks, and those of a slow composition are late")
    func ticks() throws {
        let call = VirtualCall()
        // In a room of one nothing changes, and ticks are paused.
        try call.join("Ada", colour: .red)
        try call.join("Ben", colour: .green)
        call.run(for: .seconds(2))
        let quiet = try timeline(call).ticks
        #expect(quiet.skipped.total == 0 && quiet.missed.total == 0 && quiet.late.total == 0)
        #expect((29...31).contains(quiet.taken.total) && quiet.composed.total > 20)
        // The loop is held up for a second: fifteen ticks, of which the last two are still taken.
        let late = call.now + .seconds(1)
        call.relay.wake(now: late)
        let held = try #require(call.relay.timeline(ofRoom: "demo", now: late)).ticks
        #expect((13...15).contains(held.skipped.total))
        // The pictures that were being composed come back after the next tick, which was left out because of them.
        let later = late + .milliseconds(200)
        call.relay.wake(now: later)
        while let job = call.relay.pollJob() { call.relay.complete(job.run { later }, now: later) }
        call.relay.wake(now: later + .milliseconds(70))
        let after = try #require(call.relay.timeline(ofRoom: "demo", now: later + .milliseconds(70))).ticks
        #expect(after.late.total == 1 && after.missed.total >= 1 && after.slowest.contains { $0 >= 150 })
    }

    @Test("each view is listed with its times, with arriving and leaving participants in motion")
    func instructions() throws {
        let call = VirtualCall { $0.selfView = .always }
        try call.join("Ada", colour: .red)
        let ben = try call.join("Ben", colour: .green)
        call.run(for: .seconds(3))
        try call.join("Cy", colour: .blue)
        call.run(for: .milliseconds(100))
        var views = try timeline(call).views
        #expect(views.flatMap(\.receivers).map(\.name).sorted() == ["Ada", "Ben", "Cy"])
        let joining = try #require(views.first { $0.receivers.contains { $0.name == "Ada" } })
        let moving = try #require(joining.instructions.last { $0.start <= 0 })
        #expect(moving.containsTweening && Set(moving.layers.map(\.source)) == ["Ada", "Ben", "Cy"])
        // The instructions for the next second are there already.
        let coming = try #require(joining.instructions.last)
        #expect(coming.start > 0 && coming.start < 0.4 && coming.end == nil && !coming.containsTweening)
        #expect(joining.issues.isEmpty)
        call.run(for: .seconds(1))
        _ = call.relay.leave(room: "demo", participant: ben.participantID, now: call.now)
        call.run(for: .milliseconds(100))
        let snapshot = try timeline(call)
        views = snapshot.views
        let leaving = try #require(views.first?.instructions.last { $0.start <= 0 })
        #expect(leaving.layers.contains { $0.source == "Ben" && !$0.opacityRamps.isEmpty })
        #expect(snapshot.sources.first { $0.person.name == "Ben" } != nil)
        call.run(for: .seconds(1))
        #expect(try timeline(call).sources.first { $0.person.name == "Ben" }?.ended != nil)
    }

    @Test("nobody and no encoder counts as gone in a room that stands still, however rare its ticks are")
    func still() throws {
        let call = VirtualCall()
        try call.join("Ada").isSendingVideo = false
        try call.join("Ben").isSendingVideo = false
        call.run(for: .seconds(8))
        for _ in 0..<10 {
            call.run(for: .milliseconds(300))
            let snapshot = try timeline(call)
            #expect(snapshot.sources.count == 2 && snapshot.sources.allSatisfy { $0.ended == nil })
            #expect(snapshot.encoders.contains { $0.ended == nil })
        }
    }

    @Test("each receiver's encoder has its target, and says when the network keeps pictures back")
    func encoders() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red)
        try call.join(
            "Ben", colour: .green, downlink: LinkProfile(rate: .fixed(.kilobits(60)), delay: .milliseconds(20)))
        call.run(for: .seconds(8))
        ada.peer.requestKeyframe(.main, now: call.now)
        call.run(for: .seconds(1))
        let encoders = try timeline(call).encoders
        #expect(Set(encoders.flatMap(\.members).map(\.name)) == ["Ada", "Ben"])
        let adas = try #require(encoders.first { $0.members.contains { $0.name == "Ada" } })
        let bens = try #require(encoders.first { $0.members.contains { $0.name == "Ben" } })
        #expect(adas.encoded.total > 60 && adas.targetBitRate.compactMap(\.self).count > 80)
        #expect(bens.leftOut.total > 0 && bens.waiting.total > 0)
        #expect(adas.keyframeRequests.contains { $0.name == "Ada" && $0.time > -1 })
    }

    @Test("the timeline has each source's level and gain, and the level of each listener's mix")
    func audio() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red)
        try call.join("Ben", video: nil)
        call.run(for: .seconds(2))
        ada.isSilent = true
        call.run(for: .seconds(3))
        let snapshot = try timeline(call)
        let audio = snapshot.audio
        #expect(audio.map(\.person.name) == ["Ada", "Ben"])
        #expect(audio[0].level[560] ?? 127 < 40 && audio[0].gain[560] == 1)
        #expect(audio[0].level[595] ?? 0 > 100 && audio[0].gain[595] == 0)
        #expect(audio[1].mixLevel[560] ?? 127 < 40 && audio[1].mixLevel[595] ?? 0 > 100)
        #expect(snapshot.mix.encodes.total > 100)
        #expect(snapshot.sources.map(\.person.name) == ["Ada"])
    }
}
