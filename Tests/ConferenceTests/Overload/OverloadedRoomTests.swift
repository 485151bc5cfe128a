import CongestionControl
import LoadControl
import MediaCore
import MediaFixtures
import RoomAPI
import SecureTransport
import Simulation
import Synchronization
import Testing
import VideoCoding

@testable import Conference

/// Rooms whose jobs are reported to take long, and the reaction of overload control.
@Suite struct OverloadedRoomTests {
    private func makeCall(
        isGoverned: Bool = true, configure: (inout RelayConfiguration) -> Void = { _ in }
    ) -> VirtualCall {
        VirtualCall {
            if isGoverned { $0.overload = OverloadSettings(workers: 2) }
            $0.canvas = VideoDimensions(width: 160, height: 90)
            $0.frameRate = 10
            $0.maximumEncoders = 4
            configure(&$0)
        }
    }

    private func join(
        _ call: VirtualCall, _ name: String, _ colour: Colour, selfView: SelfView? = nil
    ) throws -> TestClient {
        let client = try call.join(
            name, colour: colour, audio: nil, selfView: selfView, dimensions: VideoDimensions(width: 64, height: 36))
        client.frameRate = 10
        return client
    }

    private func joinThree(_ call: VirtualCall) throws -> [TestClient] {
        try [("Ada", Colour.red), ("Bob", .green), ("Cy", .blue)].map { try join(call, $0, $1) }
    }

    private func snapshot(_ call: VirtualCall) -> OverloadSnapshot? { call.relay.snapshot(now: call.now).overload }

    private func room(_ call: VirtualCall) throws -> RoomSnapshot {
        try #require(call.relay.snapshot(room: "demo", now: call.now))
    }

    private func transitions(_ call: VirtualCall) -> [OverloadLevel] {
        var levels: [OverloadLevel] = []
        while let event = call.relay.pollOverloadEvent() {
            if case .levelChanged(let change) = event { levels.append(change.to) }
        }
        return levels
    }

    @Test(
        "encodes that take nearly all of a tick: a cheaper preset, one view for all, one encoder, half the pictures"
    )
    func measures() throws {
        let call = makeCall()
        let clients = try joinThree(call)
        call.run(for: .seconds(2))
        #expect(snapshot(call)?.level == .normal)
        #expect(try room(call).measures == nil)
        #expect(try room(call).encoding.groups.count == 3)
        // At 10 pictures a second there are 100 ms from tick to tick: one encoder keeps both workers busy.
        call.jobDuration = { $0 == .encode ? .milliseconds(185) : .zero }
        call.run(for: .seconds(10))
        let measures = transitions(call)
        #expect(measures.starts(with: [.cheapestPreset, .sharedView]))
        #expect(measures.last == .halfFrameRate)
        let state = try room(call)
        #expect(state.encoding.groups.count == 1)
        #expect(try #require(state.measures).contains("half of the pictures a second"))
        #expect(call.relay.timeline(ofRoom: "demo", now: call.now)?.measures == state.measures)
        let arrivals = clients.map(\.arrivals.count)
        call.run(for: .seconds(4))
        for (client, before) in zip(clients, arrivals) {
            // Five a second.
            #expect((17...23).contains(client.arrivals.count - before))
            #expect(client.decodeFailures == 0)
        }
        // Everyone sees all three, themselves among them.
        for client in clients {
            let picture = try #require(client.picture)
            for colour in [Colour.red, .green, .blue] { #expect(picture.share(of: colour) > 0.1) }
        }
        call.jobDuration = { _ in .zero }
        let isBack = call.run(until: { self.snapshot(call)?.level == .sharedView }, limit: .seconds(40))
        #expect(isBack)
        #expect(transitions(call) == measures.reversed().dropFirst().filter { $0 >= .sharedView })
        #expect(try #require(room(call).measures).hasSuffix("and everyone sees the same picture."))
    }

    @Test("another preset costs no keyframe")
    func presetWithoutKeyframe() throws {
        let call = makeCall { $0.encoderPreset = .quality }
        let clients = try joinThree(call)
        call.run(for: .seconds(4))
        let before = try room(call).encoding.keyframes
        call.jobDuration = { $0 == .encode ? .milliseconds(92) : .zero }
        let isCheapest = call.run(until: { self.snapshot(call)?.level == .cheapestPreset })
        #expect(isCheapest)
        call.jobDuration = { _ in .zero }
        call.run(for: .seconds(2))
        #expect(try room(call).encoding.keyframes == before)
        #expect(clients.allSatisfy { $0.decodeFailures == 0 })
    }

    @Test("a participant that asked never to see itself does not, even under overload")
    func askedForNoSelfView() throws {
        let call = makeCall()
        let asking = try join(call, "Ada", .red, selfView: .never)
        for (name, colour) in [("Bob", Colour.green), ("Cy", .blue), ("Di", .yellow)] {
            _ = try join(call, name, colour)
        }
        call.jobDuration = { $0 == .encode ? .milliseconds(92) : .zero }
        call.run(for: .seconds(9))
        #expect(try #require(snapshot(call)).level >= .halfFrameRate)
        #expect(try room(call).encoding.groups.count == 2)
        #expect(try #require(asking.picture).share(of: .red) < 0.02)
        #expect(try #require(call.clients[1].picture).share(of: .green) > 0.1)
    }

    @Test("two people continue to see only each other")
    func two() throws {
        let call = makeCall()
        let ada = try join(call, "Ada", .red)
        _ = try join(call, "Bob", .green)
        call.jobDuration = { $0 == .encode ? .milliseconds(92) : .zero }
        call.run(for: .seconds(5))
        #expect(!transitions(call).contains(.sharedView))
        #expect(try #require(ada.picture).share(of: .red) < 0.02)
    }

    @Test("if no measure helps, joins are refused with a reason and a time, and admitted when there is time again")
    func refusal() throws {
        let call = makeCall()
        _ = try joinThree(call)
        call.jobDuration = { $0 == .encode ? .milliseconds(500) : .zero }
        call.run(for: .seconds(14))
        #expect(snapshot(call)?.level == .refusingJoins)
        let refusal = try #require(snapshot(call)?.refusal)
        #expect((5...120).contains(refusal.retryAfter))
        #expect(throws: JoinError.self) { try join(call, "Di", .yellow) }
        #expect(snapshot(call)?.joinsRefused == 1)
        do {
            _ = try join(call, "Di", .yellow)
        } catch JoinError.overloaded(let reason, let seconds) {
            #expect(reason.contains("highest overload level"))
            #expect(seconds == refusal.retryAfter)
        }
        call.jobDuration = { _ in .zero }
        call.run(for: .seconds(Int64(refusal.retryAfter) + 2))
        _ = try join(call, "Di", .yellow)
    }

    @Test("without overload control no measure is taken, and nobody is refused")
    func withoutOverloadControl() throws {
        let call = makeCall(isGoverned: false)
        _ = try joinThree(call)
        call.jobDuration = { $0 == .encode ? .milliseconds(200) : .zero }
        call.run(for: .seconds(3))
        #expect(snapshot(call) == nil)
        #expect(transitions(call).isEmpty)
        #expect(try room(call).encoding.groups.count == 3)
        _ = try join(call, "Di", .yellow)
    }

    @Test(
        "without seats by the estimate a burst of joins ends; a relay that is idle all the same admits one more"
    )
    func seats() throws {
        let call = makeCall()
        call.relay.adopt(.machine(timesSlower: 40), now: call.now)
        let seats = try #require(snapshot(call)?.seatsLeft)
        #expect((1...4).contains(seats))
        for index in 0..<seats { _ = try join(call, "\(index)", .red) }
        // A seat is taken when the client's first packet authenticates.
        call.run(for: .milliseconds(100))
        #expect(throws: JoinError.self) { try join(call, "One too many", .red) }
        #expect(snapshot(call)?.seatsLeft == 0)
        // Their jobs take no time at all: the estimate was wrong.
        call.run(for: .seconds(4))
        #expect(snapshot(call)?.seatsLeft ?? 0 >= 1)
        _ = try join(call, "One more", .red)
    }

    @Test("the actual cost of jobs counts for the seats that are left")
    func measuredCosts() throws {
        let call = makeCall()
        var calibration = Calibration.machine()
        calibration.canvas = call.relay.configuration.canvas
        call.relay.adopt(calibration, now: call.now)
        _ = try joinThree(call)
        call.jobDuration = {
            switch $0 {
            case .decode: .microseconds(350)
            case .encode: .microseconds(2700)
            case .compose, .mix: .microseconds(500)
            }
        }
        call.run(for: .seconds(6))
        let seats = try #require(snapshot(call)?.seatsLeft)
        #expect(seats > 20)
        // A neighbour has come.
        call.jobDuration = {
            switch $0 {
            case .decode: .microseconds(1050)
            case .encode: .microseconds(8100)
            case .compose, .mix: .microseconds(1500)
            }
        }
        call.run(for: .seconds(8))
        #expect(try #require(snapshot(call)?.seatsLeft) < seats / 2)
        #expect(snapshot(call)?.level == .normal)
    }

    @Test("a machine is measured within the time that is given, and each kind of work costs something")
    func calibration() throws {
        // A clock that advances by a millisecond each time it is read.
        let looks = Atomic<Int64>(0)
        let run = CalibrationRun(
            canvas: VideoDimensions(width: 320, height: 180), encoder: .openH264, limit: .milliseconds(60)
        ) {
            .milliseconds(looks.add(1, ordering: .relaxed).newValue)
        }
        let calibration = try run.measure()
        #expect(calibration.decode > 0 && calibration.compose.picture > 0)
        #expect(calibration.audioDecode > 0 && calibration.audioEncode > 0)
        #expect(Set(calibration.encode.keys) == Set(EncoderPreset.allCases))
        #expect(looks.load(ordering: .relaxed) < 250)
    }
}
