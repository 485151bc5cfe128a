import Foundation
import HTTPTypes
import Hummingbird
import RoomAPI
import RoomMedia

/// The files of recordings, for those who keep them elsewhere or watch them in a browser.
extension SignallingRouter {
    var recordedFileRoutes: [Route] {
        [
            Route(
                "/recordings/:recording/files/:folder/:file",
                [.init(.get, .needsEverywhere(.record), recordedFile)])
        ]
    }

    /// A track, a film, or what lies beside it. A client may ask for a part, and so go on after an interruption.
    func recordedFile(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let store = try recordingStore()
        let id = try context.parameters.require("recording")
        let folder = try context.parameters.require("folder")
        let name = try context.parameters.require("file")
        guard let path = RecordedFilePath(folder: folder, name: name),
            let file = try await Self.onDisk({ store.file(path, ofRecording: id) })
        else { throw Problem.noFile("\(folder)/\(name)", recording: id) }
        var headers: HTTPFields = [
            .contentType: path.mediaType, .acceptRanges: "bytes", .eTag: file.entityTag,
            .cacheControl: "private, no-cache", .xContentTypeOptions: "nosniff",
        ]
        if EntityTagList(request.headers[.ifNoneMatch])?.weaklyContains(file.entityTag) == true {
            return Response(status: .notModified, headers: headers)
        }
        let isUnchanged = request.headers[.ifRange].map { $0 == file.entityTag } ?? true
        switch ByteRange(isUnchanged ? request.headers[.range] : nil, ofSize: file.size) {
        case .whole:
            headers[.contentLength] = "\(file.size)"
            return Response(
                status: .ok, headers: headers, body: try await body(of: file, 0...max(file.size - 1, 0), context))
        case .part(let range):
            headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound)/\(file.size)"
            headers[.contentLength] = "\(range.count)"
            return Response(
                status: .partialContent, headers: headers, body: try await body(of: file, range, context))
        case .unsatisfiable:
            throw Problem(
                .rangeNotSatisfiable, "the file has \(file.size) bytes",
                headers: [.contentRange: "bytes */\(file.size)"])
        }
    }

    private func body(
        of file: RecordingStore.File, _ range: ClosedRange<Int>, _ context: SignallingContext
    ) async throws -> ResponseBody {
        try await FileIO().loadFile(path: file.path, range: range, context: context)
    }
}

extension Problem {
    fileprivate static func noFile(_ path: String, recording: String) -> Problem {
        Problem(
            .notFound,
            "there is no file '\(path)' of a recording '\(recording)'; GET /recordings/\(recording) and "
                + "/recordings/\(recording)/exports list the files")
    }
}
