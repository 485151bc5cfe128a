import Foundation
import HTTPTypes
import Hummingbird
import RoomAPI
import RoomMedia

/// Films that are made of recordings.
extension SignallingRouter {
    var exportRoutes: [Route] {
        [
            Route(
                "/recordings/:recording/exports",
                [
                    .init(.get, .needsEverywhere(.record), exports),
                    .init(.post, .needsEverywhere(.record), startExport),
                ]),
            Route(
                "/recordings/:recording/exports/:export",
                [
                    .init(.get, .needsEverywhere(.record), export),
                    .init(.delete, .needsEverywhere(.record), deleteExport),
                ]),
        ]
    }

    func startExport(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let store = try recordingStore()
        let id = try context.parameters.require("recording")
        let wish =
            try await request.jsonIfAny(ExportRequest.self, example: #"{"layout":"speaker","size":100000000}"#)
            ?? ExportRequest()
        do throws(FilmOptionError) {
            _ = try FilmOptions(wish)
        } catch {
            throw Problem(
                .unprocessableContent, "\(error)", errors: [Problem.Mistake(path: error.option, reason: error.advice)])
        }
        let made: RecordingExport? = try await Self.onDisk {
            guard let recording = store.recording(id) else { return nil }
            guard recording.state != .recording else {
                throw Problem(
                    .conflict,
                    "the recording goes on; end it first with DELETE /rooms/\(recording.room)/recordings/\(id)")
            }
            guard recording.mode == .tracks else {
                throw Problem(
                    .conflict,
                    "the recording is a composite, which is a film already: GET /recordings/\(id)/files/tracks/"
                        + "\(RecordingTrack.composite.fileNamePrefix)-001.mp4")
            }
            do throws(ExportQueue.Refusal) {
                return try store.exports.add(wish, recording: id)
            } catch {
                throw Problem(error, recording: id)
            }
        }
        guard let made else { throw Problem.noRecording(id) }
        var response = try Response.json(made, status: .created)
        response.headers[.location] = "/recordings/\(id)/exports/\(made.id)"
        return response
    }

    func exports(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let store = try recordingStore()
        let id = try context.parameters.require("recording")
        guard
            let exports = try await Self.onDisk({
                store.recording(id).map { _ in store.exports.exports(recording: id) }
            })
        else { throw Problem.noRecording(id) }
        return try .json(RecordingExportList(exports))
    }

    func export(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let store = try recordingStore()
        let recording = try context.parameters.require("recording")
        let id = try context.parameters.require("export")
        guard
            let export = try await Self.onDisk({
                store.recording(recording).flatMap { _ in store.exports.export(id, recording: recording) }
            })
        else { throw Problem.noExport(id, recording: recording) }
        return try .json(export)
    }

    /// Ends the making of a film, or removes it; nothing of it is left.
    func deleteExport(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let store = try recordingStore()
        let recording = try context.parameters.require("recording")
        let id = try context.parameters.require("export")
        let isRemoved: Bool
        do {
            isRemoved = try await Self.onDisk {
                guard store.recording(recording) != nil else { return false }
                return try store.exports.remove(id, recording: recording)
            }
        } catch {
            throw Problem(
                .internalServerError, "not all files of the film could be removed: \(error.localizedDescription)")
        }
        guard isRemoved else { throw Problem.noExport(id, recording: recording) }
        return Response(status: .noContent)
    }
}

extension Problem {
    fileprivate static func noExport(_ id: String, recording: String) -> Problem {
        Problem(.notFound, "there is no film '\(id)'; GET /recordings/\(recording)/exports lists them")
    }

    fileprivate init(_ refusal: ExportQueue.Refusal, recording: String) {
        switch refusal {
        case .queueFull:
            self.init(
                .serviceUnavailable, "\(ExportQueue.capacity) films wait already; ask again later",
                headers: [.retryAfter: "60"])
        case .tooManyFilms:
            self.init(
                .conflict,
                "the recording has \(ExportQueue.mostPerRecording) films; remove one with DELETE "
                    + "/recordings/\(recording)/exports/{export}")
        case .failed(let reason): self.init(.internalServerError, "the film cannot be queued: \(reason)")
        }
    }
}
