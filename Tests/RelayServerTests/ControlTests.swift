import Compositing
import Foundation
import HTTPTypes
import MediaCore
import NIOCore
import RoomAPI
import Synchronization
import Testing

@testable import Conference
@testable import RelayServer
@testable import RoomMedia

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

    @Test("a participant's own layout is set and removed")
    func participantLayout() async throws {
        let path = "/rooms/demo/participants/p1/layout"
        #expect(try await put(path, #"{"layout":"picture-in-picture"}"#).status == .noContent)
        #expect(try await client.send(.delete, path).status == .noContent)
        #expect(
            script.state.withLock { $0.participantLayouts.map(\.value) } == [ParticipantLayout(.pictureInPicture), nil])
        #expect(script.state.withLock { $0.participantLayouts.map(\.participant) } == ["p1", "p1"])
    }

    @Test("the change of microphone and camera is sent, both or one of them")
    func mediaState() async throws {
        let path = "/rooms/demo/participants/\(SignallingClient.session("p1"))/media"
        #expect(try await put(path, #"{"microphone":false,"camera":true}"#).status == .noContent)
        #expect(try await put(path, #"{"camera":false}"#).status == .noContent)
        #expect(
            script.state.withLock { $0.mediaStates.map(\.value) } == [
                MediaState(microphone: false, camera: true), MediaState(camera: false),
            ])
    }

    @Test("a body that may be left out may be empty, whatever its type, and is not passed over for want of one")
    func optionalBody() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("bodies-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        var client = client
        var settings = RecordingSettings(folder: folder.path)
        settings.minimumFreeSpace = .zero
        client.recordings = try RecordingStore(settings: settings)
        let path = "/rooms/demo/recordings"
        #expect(try await client.send(.post, path).status == .created)
        #expect(try await client.send(.post, path, headers: [.contentType: "application/json"]).status == .created)
        let untyped = try await client.send(.post, path, body: #"{"mode":"composite"}"#)
        #expect(untyped.status == .unsupportedMediaType)
    }

    @Test("a recording for which the disk has too little space does not begin")
    func fullDisk() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("full-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        var settings = RecordingSettings(folder: folder.path)
        settings.minimumFreeSpace = DataSize(bytes: Int.max)
        var client = client
        client.recordings = try RecordingStore(settings: settings)
        let answer = try await client.send(.post, "/rooms/demo/recordings")
        #expect(answer.status.code == 507 && answer.detail.contains("MB are kept free"), "\(answer.body)")
    }

    @Test("a number that a field cannot hold is told", arguments: ["1e30", "2500000.5"])
    func impossibleNumber(number: String) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("numbers-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        var client = client
        client.recordings = try RecordingStore(settings: RecordingSettings(folder: folder.path))
        let answer = try await client.send(
            .post, "/rooms/demo/recordings", headers: [.contentType: "application/json"],
            body: "{\"mode\":\"composite\",\"bitRate\":\(number)}")
        #expect(answer.status == .badRequest && answer.detail.contains("has a fraction, or is too large"))
    }

    @Test("changes that come too often get 429, and when to try again")
    func tooManyChanges() throws {
        let problem = Problem(RoomControlError.tooManyChanges(retryAfter: 3))
        #expect(problem.status == .tooManyRequests)
        #expect(problem.headers[.retryAfter] == "3")
        #expect(problem.detail.contains("in 3 s"))
        for problem in [
            Problem(JoinError.tooManyOffers(retryAfter: 4)), Problem(TrickleError.tooManyRestarts(retryAfter: 4)),
        ] {
            #expect(problem.status == .tooManyRequests && problem.headers[.retryAfter] == "4")
        }
    }

    @Test(
        "rooms and participants that are not there get 404",
        arguments: ["/rooms/other/layout", "/rooms/demo/participants/p9/layout", "/rooms/other/participants/p1/layout"])
    func notFound(path: String) async throws {
        #expect(try await put(path, #"{"layout":"grid"}"#).status == .notFound)
        #expect(
            try await put("/rooms/demo/participants/\(SignallingClient.session("p9"))/media", "{}").status == .notFound)
    }

    @Test("a layout that names an absent participant gets 422")
    func nobody() async throws {
        for path in ["/rooms/demo/layout", "/rooms/demo/participants/p1/layout"] {
            let answer = try await put(path, #"{"layout":"pinned","participant":"p9"}"#)
            #expect(answer.status == .unprocessableContent)
            #expect(answer.detail.contains("p9"))
        }
    }

    @Test(
        "a body without a layout gets 400 with the mistake and an example",
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

    @Test(
        "a value of the wrong kind gets 400 with its place and the kind that it must be of",
        arguments: [
            (#"{"layout":"grid","hide":[1]}"#, "hide[0]", "a text"), (#"{"layout":7}"#, "layout", "a text"),
        ])
    func wrongKind(body: String, place: String, kind: String) async throws {
        let answer = try await put("/rooms/demo/layout", body)
        #expect(answer.status == .badRequest)
        #expect(
            errors(answer) == [
                ["path": place, "reason": "\"\(place)\" in the JSON has a value of the wrong kind: give \(kind)"]
            ])
    }

    @Test(
        "a key that a request does not take gets 400 with its place and the keys that it takes",
        arguments: [
            ("layout", #"{"layout":"grid","hidden":[],"fit":"cover"}"#, "hidden", "fit, hide, layout"),
            ("layout", #"{"layout":"grid","selfView":"never"}"#, "selfView", "fit, hide, layout"),
            (
                "participants/p1/layout", #"{"selfview":"never"}"#, "selfview",
                "fit, hide, layout, participant, selfView"
            ),
            (
                "participants/\(SignallingClient.session("p1"))/media", #"{"hand":true,"Camera":false}"#, "Camera",
                "camera, hand, microphone"
            ),
        ])
    func unknownKey(path: String, body: String, key: String, keys: String) async throws {
        let answer = try await put("/rooms/demo/\(path)", body)
        #expect(answer.status == .badRequest)
        #expect(errors(answer) == [["path": key, "reason": "there is no key \"\(key)\"; use \(keys)"]])
        #expect(script.state.withLock { $0.roomLayouts.isEmpty && $0.participantLayouts.isEmpty })
        #expect(script.state.withLock { $0.mediaStates.isEmpty })
    }

    @Test("a key that a request does not take is shortened in the answer")
    func longUnknownKey() async throws {
        let key = String(repeating: "k", count: 10_000)
        let answer = try await put("/rooms/demo/layout", #"{"layout":"grid","\#(key)":1}"#)
        #expect(answer.status == .badRequest && answer.body.utf8.count < 1000)
    }

    @Test("a number that its field cannot hold gets 400, which does not say that the body is no JSON")
    func numbers() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("numbers-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        var client = client
        client.recordings = try RecordingStore(settings: RecordingSettings(folder: folder.path))
        for rate in ["1.5", "1e30"] {
            let answer = try await client.send(
                .post, "/rooms/demo/recordings", headers: [.contentType: "application/json"],
                body: #"{"mode":"composite","bitRate":\#(rate)}"#)
            #expect(answer.status == .badRequest)
            #expect(answer.detail.contains("a number in the JSON"), "\(answer.detail)")
        }
    }

    @Test("a body without the content type of JSON gets 415, one that is too large 413")
    func refusedBodies() async throws {
        #expect(
            try await put("/rooms/demo/layout", #"{"layout":"grid"}"#, type: "text/plain").status
                == .unsupportedMediaType)
        #expect(
            try await put("/rooms/demo/layout", String(repeating: " ", count: 65_537)).status == .contentTooLarge)
    }

    /// The mistakes that a problem document lists.
    private func errors(_ answer: SignallingClient.Answer) -> [[String: String]] {
        answer.json["errors"] as? [[String: String]] ?? []
    }

    @Test("a participant chooses a pin, hidden participants and the self-view, or one of them")
    func choices() async throws {
        let path = "/rooms/demo/participants/p1/layout"
        #expect(
            try await put(
                path, #"{"layout":"pinned","participant":"p1","fit":"cover","hide":["p1","p1"],"selfView":"always"}"#
            ).status == .noContent)
        #expect(try await put(path, #"{"selfView":"never"}"#).status == .noContent)
        #expect(
            script.state.withLock { $0.participantLayouts.map(\.value) } == [
                ParticipantLayout(.pinned(participant: "p1"), fit: .cover, hidden: ["p1"], selfView: .always),
                ParticipantLayout(selfView: .never),
            ])
        for (body, place) in [
            (#"{"selfView":"maybe"}"#, "selfView"), (#"{"hide":[1]}"#, "hide[0]"), (#"{"fit":"squeeze"}"#, "fit"),
            (#"{"participant":"p1"}"#, "participant"),
        ] {
            let answer = try await put(path, body)
            #expect(answer.status == .badRequest)
            #expect(errors(answer).map { $0["path"] } == [place])
        }
    }

    @Test("a template is accepted, and an invalid one gets 422 with each mistake's place and reason")
    func templates() async throws {
        let slot = #"{"name":"a","x":0,"y":0,"width":1,"height":1,"show":["speaker"]}"#
        for path in ["/rooms/demo/layout", "/rooms/demo/participants/p1/layout"] {
            #expect(
                try await put(path, #"{"layout":"template","template":{"slots":[\#(slot)]}}"#).status == .noContent)
            let answer = try await put(
                path,
                #"{"layout":"template","template":{"slots":[\#(slot),{"name":"b","x":2,"show":["speaker"]}],"z":1}}"#)
            #expect(answer.status == .unprocessableContent)
            #expect(answer.headers[.contentType] == "application/problem+json")
            let places = Set(errors(answer).compactMap { $0["path"] })
            #expect(places.isSuperset(of: ["template.slots[1].x", "template.z"]), "\(places)")
            #expect(errors(answer).allSatisfy { !($0["reason"] ?? "").isEmpty })
        }
        #expect(try await put("/rooms/demo/layout", #"{"layout":"template"}"#).status == .badRequest)
    }

    @Test("overlays are set, shown and taken away; wrong ones get 422 with their places")
    func overlays() async throws {
        let path = "/rooms/demo/overlays"
        let list = #"[{"text":"On air","anchor":"top-left","height":0.08,"opacity":0.5},{"clock":"+01:00"}]"#
        #expect(try await put(path, list).status == .noContent)
        let shown = try await client.send(.get, path)
        #expect(shown.status == .ok)
        #expect(shown.body.contains(#""text":"On air""#) && shown.body.contains(#""clock":"+01:00""#))
        #expect(try await put(path, "[]").status == .noContent)
        #expect(try await client.send(.get, path).body == "[]")
        #expect(script.state.withLock { $0.overlays.map(\.overlays.count) } == [2, 0])
        for (body, place) in [
            (#"[{"clock":"UTC"},{"text":"a","height":7}]"#, "[1].height"), (#"[{"anchor":"top"}]"#, "[0]"),
            (#"[{"image":"logo"}]"#, "[0].image"), (#"{"text":"a"}"#, ""),
        ] {
            let answer = try await put(path, body)
            #expect(answer.status == .unprocessableContent, "\(body)")
            #expect(errors(answer).map { $0["path"] } == [place], "\(answer.body)")
        }
        #expect(try await put(path, "[").status == .badRequest)
        #expect(try await put(path, list, type: "text/plain").status == .unsupportedMediaType)
        #expect(try await put("/rooms/other/overlays", list).status == .notFound)
        #expect(try await client.send(.get, "/rooms/other/overlays").status == .notFound)
    }

    @Test("only the client that joined can set and remove its avatar, and only a PNG is accepted")
    func avatars() async throws {
        let path = "/rooms/demo/participants/\(SignallingClient.session("p1"))/avatar"
        let png = try PixelBuffer.greyPNG()
        func put(_ path: String, _ body: [UInt8], type: String = "image/png") async throws -> SignallingClient.Answer {
            try await client.send(.put, path, headers: [.contentType: type], bytes: ByteBuffer(bytes: body))
        }
        #expect(try await put(path, png).status == .noContent)
        #expect(try await client.send(.delete, path).status == .noContent)
        #expect(
            script.state.withLock { $0.avatars.map(\.value?.image.picture.dimensions) } == [
                VideoDimensions(width: 8, height: 8), nil,
            ])
        for stranger in ["/rooms/demo/participants/p1/avatar", "/rooms/demo/participants/p1.00/avatar"] {
            #expect(try await put(stranger, png).status == .forbidden)
            #expect(try await client.send(.delete, stranger).status == .forbidden)
        }
        let gone = "/rooms/demo/participants/\(SignallingClient.session("p9"))/avatar"
        #expect(try await put(gone, png).status == .notFound)
        // Nothing is read for somebody who has left.
        #expect(try await put(gone, Array(png.prefix(50))).status == .notFound)
        #expect(try await put(path, png, type: "image/jpeg").status == .unsupportedMediaType)
        #expect(try await put(path, Array("GIF89a".utf8)).status == .unprocessableContent)
        #expect(try await put(path, Array(png.prefix(50))).status == .unprocessableContent)
        #expect(
            try await put(path, [UInt8](repeating: 0, count: SignallingLimits.avatarSize + 1)).status
                == .contentTooLarge)
        #expect(script.state.withLock { $0.avatars.count } == 2)
    }
}

extension PixelBuffer {
    /// The bytes of a PNG of 8x8 samples.
    fileprivate static func greyPNG() throws -> [UInt8] {
        var buffer = MutablePixelBuffer(format: .bgra, dimensions: VideoDimensions(width: 8, height: 8))
        buffer.withMutablePlane(0) { bytes, _ in
            for index in bytes.indices { bytes[index] = 128 }
        }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).png")
        defer { try? FileManager.default.removeItem(at: file) }
        try buffer.freeze().writePNG(to: file.path)
        return Array(try Data(contentsOf: file))
    }
}
