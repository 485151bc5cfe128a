import HTTPTypes
import Synchronization
import Testing

@testable import Conference
@testable import RelayServer

@Suite("Layouts and media states over HTTP")
struct ControlTests {
    private let client = SignallingClient()
    private var script: TwinRelay.Script { client.script }

    init() {
        script.state.withLock { $0.snapshot.rooms = [RoomSnapshot(id: "demo")] }
    }

    private func put(
        _ path: String, _ body: String, type: String = "application/json"
    ) async throws -> SignallingClient.Answer {
        try await client.send(.put, path, headers: [.contentType: type], body: body)
    }

    @Test("the room's layout is set")
    func roomLayout() async throws {
        #expect(try await put("/rooms/demo/layout", #"{"layout":"speaker"}"#).status == .noContent)
        #expect(
            try await put("/rooms/demo/layout", #"{"layout":"solo","participant":"p1"}"#, type: "application/json;x=y")
                .status == .noContent)
        #expect(script.state.withLock { $0.roomLayouts } == [.speaker, .solo(participant: "p1")])
    }

    @Test("a participant's own layout is set and given up")
    func participantLayout() async throws {
        let path = "/rooms/demo/participants/p1/layout"
        #expect(try await put(path, #"{"layout":"picture-in-picture"}"#).status == .noContent)
        #expect(try await client.send(.delete, path).status == .noContent)
        #expect(
            script.state.withLock { $0.participantLayouts.map(\.value) } == [ParticipantLayout(.pictureInPicture), nil])
        #expect(script.state.withLock { $0.participantLayouts.map(\.participant) } == ["p1", "p1"])
    }

    @Test("microphone and camera are told, both or one of them")
    func mediaState() async throws {
        let path = "/rooms/demo/participants/\(SignallingClient.session("p1"))/media"
        #expect(try await put(path, #"{"microphone":false,"camera":true}"#).status == .noContent)
        #expect(try await put(path, #"{"camera":false}"#).status == .noContent)
        #expect(
            script.state.withLock { $0.mediaStates.map(\.value) } == [
                MediaState(microphone: false, camera: true), MediaState(camera: false),
            ])
    }

    @Test(
        "rooms and participants that are not there get 404",
        arguments: ["/rooms/other/layout", "/rooms/demo/participants/p9/layout", "/rooms/other/participants/p1/layout"])
    func notFound(path: String) async throws {
        #expect(try await put(path, #"{"layout":"grid"}"#).status == .notFound)
        #expect(
            try await put("/rooms/demo/participants/\(SignallingClient.session("p9"))/media", "{}").status == .notFound)
    }

    @Test("a layout about someone who is not there gets 422")
    func nobody() async throws {
        for path in ["/rooms/demo/layout", "/rooms/demo/participants/p1/layout"] {
            let answer = try await put(path, #"{"layout":"pinned","participant":"p9"}"#)
            #expect(answer.status == .unprocessableContent)
            #expect(answer.detail.contains("p9"))
        }
    }

    @Test(
        "a body that says no layout gets 400 with what is wrong and an example",
        arguments: [
            ("", "not JSON"), ("{", "not JSON"), ("[]", "not of the expected form"), ("{}", "lacks \"layout\""),
            (#"{"layout":"star"}"#, "no layout \"star\""), (#"{"layout":7}"#, "\"layout\" in the JSON has a value"),
            (#"{"layout":"pinned"}"#, "lacks \"participant\""), (#"{"layout":null}"#, "\"layout\""),
        ])
    func badLayout(body: String, reason: String) async throws {
        let answer = try await put("/rooms/demo/layout", body)
        #expect(answer.status == .badRequest)
        #expect(answer.detail.contains(reason) && answer.detail.contains(#"{"layout":"speaker"}"#), "\(answer.detail)")
    }

    @Test("a body that is not said to be JSON gets 415, one that is too large 413")
    func refusedBodies() async throws {
        #expect(
            try await put("/rooms/demo/layout", #"{"layout":"grid"}"#, type: "text/plain").status
                == .unsupportedMediaType)
        #expect(
            try await put("/rooms/demo/layout", String(repeating: " ", count: 65_537)).status == .contentTooLarge)
    }
}
