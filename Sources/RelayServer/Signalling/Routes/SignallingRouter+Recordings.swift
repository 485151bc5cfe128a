import Conference
import Dispatch
import HTTPTypes
import Hummingbird
import NIOPosix
import RoomAPI
import RoomMedia

/// Recordings that go on, and those that have ended.
extension SignallingRouter {
    var recordingRoutes: [Route] {
        [
            Route(
                "/rooms/:room/recordings",
                [.init(.get, .needs(.record), roomRecordings), .init(.post, .needs(.record), startRecording)]),
            Route(
                "/rooms/:room/recordings/:recording",
                [.init(.get, .needs(.record), recording), .init(.delete, .needs(.record), stopRecording)]),
            Route("/recordings", [.init(.get, .needsEverywhere(.record), allRecordings)]),
            Route(
                "/recordings/:recording",
                [
                    .init(.get, .needsEverywhere(.record), recording),
                    .init(.delete, .needsEverywhere(.record), deleteRecording),
                ]),
        ] + exportRoutes + recordedFileRoutes
    }

    func startRecording(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let store = try recordingStore()
        let room = try RoomName(context.parameters.require("room"))
        let wanted = try await recordingRequest(request)
        do {
            try await Self.onDisk { try store.checkSpace() }
        } catch let error as RecordingFileError {
            throw Problem(.insufficientStorage, "a recording would end at once: \(error.reason)")
        }
        let status: RecordingStatus
        do {
            status = try await driver.startRecording(room: room.rawValue, wanted)
        } catch {
            throw Problem(error)
        }
        var response = try Response.json(status, status: .created)
        response.headers[.location] = "/rooms/\(room.rawValue)/recordings/\(status.id)"
        return response
    }

    /// The recording that a request asks for. Without a body it is one of tracks.
    private func recordingRequest(_ request: Request) async throws -> RecordingRequest {
        try await request.jsonIfAny(
            RecordingRequest.self, example: #"{"mode":"composite","layout":"speaker","size":"1280x720"}"#)
            ?? RecordingRequest()
    }

    /// The longest wait of a recording's end for its files: a disk may not answer.
    private static let closingTime = DispatchTimeInterval.seconds(5)

    /// Ends a recording; its files stay, and are closed with the answer.
    func stopRecording(_ request: Request, _ context: SignallingContext) async throws -> Response {
        _ = try recordingStore()
        let room = try RoomName(context.parameters.require("room"))
        let id = try context.parameters.require("recording")
        do {
            let writer = try await driver.endRecording(id, room: room.rawValue)
            await writer?.waitUntilFinished(timeout: Self.closingTime)
            return Response(status: .noContent)
        } catch {
            throw Problem(error)
        }
    }

    func roomRecordings(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let store = try recordingStore()
        let room = try RoomName(context.parameters.require("room"))
        return try .json(RecordingList(await Self.onDisk { store.recordings(ofRoom: room.rawValue) }))
    }

    func allRecordings(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let store = try recordingStore()
        return try .json(RecordingList(await Self.onDisk { store.recordings() }))
    }

    func recording(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let store = try recordingStore()
        let id = try context.parameters.require("recording")
        let room = context.parameters.get("room")
        guard let recording = try await Self.onDisk({ store.recording(id) }), room ?? recording.room == recording.room
        else { throw Problem.noRecording(id, of: room) }
        return try .json(recording)
    }

    func deleteRecording(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let store = try recordingStore()
        let id = try context.parameters.require("recording")
        switch try await Self.onDisk({ store.delete(id) }) {
        case .deleted: return Response(status: .noContent)
        case .noSuchRecording: throw Problem.noRecording(id)
        case .isActive:
            throw Problem(
                .conflict, "the recording goes on; end it first with DELETE /rooms/{room}/recordings/\(id)")
        case .failed(let reason):
            throw Problem(.internalServerError, "not all files of the recording could be deleted: \(reason)")
        }
    }

    func recordingStore() throws(Problem) -> RecordingStore {
        guard let recordings else {
            throw Problem(.forbidden, "this relay does not record; its operator can start it with --recordings DIR")
        }
        return recordings
    }

    /// Does what waits for the disk on a thread that may wait.
    static func onDisk<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await NIOThreadPool.singleton.runIfActive(work)
    }
}

extension HTTPResponse.Status {
    /// A status of WebDAV (RFC 4918, section 11.5).
    fileprivate static let insufficientStorage = HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage")
}

extension Problem {
    /// - Parameter room: The room in which it was looked for; nil: in all.
    static func noRecording(_ id: String, of room: String? = nil) -> Problem {
        let list = room.map { "/rooms/\($0)/recordings" } ?? "/recordings"
        return Problem(.notFound, "there is no recording '\(id)'; GET \(list) lists them")
    }
}
