import Foundation
import HTTPTransfer
public import RoomAPI

/// Reads a room's state, changes its layouts and moderates it, by the relay's HTTP interface. The methods throw
/// `ClientError`: `.usage` for unknown names, `.relayUnreachable` or `.relayRefused`.
public struct RoomController: Sendable {
    let url: RoomURL

    public init(url: RoomURL) {
        self.url = url
    }

    /// Returns the state of the room.
    public func report() async throws -> RoomReport {
        try await get(url.path, as: RoomReport.self)
    }

    /// Applies a change to the room.
    public func apply(_ change: LayoutChange) async throws {
        let room = try await report()
        guard let receiver = change.receiver else {
            try await put(try change.applied(to: room.layout, in: room), to: "\(url.path)/layout")
            return
        }
        let id = try room.id(of: receiver)
        let before = room.participants.first { $0.id == id }?.layout
        try await put(
            try change.applied(to: before, in: room), to: "\(url.path)/participants/\(id)/layout")
    }

    /// Has the relay record the room.
    public func startRecording(_ request: RecordingRequest = RecordingRequest()) async throws -> RecordingStatus {
        try Self.decode(try await exchange(.post, "\(url.path)/recordings", body: try Self.json(request)))
    }

    /// Ends a recording; its files stay.
    public func endRecording(_ id: String) async throws {
        try await delete("\(url.path)/recordings/\(id)")
    }

    /// The recordings of the room, the newest first.
    public func recordings() async throws -> [RecordingDescription] {
        try await get("\(url.path)/recordings", as: RecordingList.self).recordings
    }

    /// Makes a film or stream a member of the room.
    public func startPlayer(_ request: PlayerRequest) async throws -> PlayerDescription {
        try Self.decode(try await exchange(.post, "\(url.path)/players", body: try Self.json(request)))
    }

    /// Changes how the player of this name or id plays.
    public func changePlayer(_ name: String, _ change: PlayerChange) async throws {
        try await put(change, to: "\(url.path)/players/\(try await id(ofPlayer: name))")
    }

    /// Ends the player of this name or id.
    public func endPlayer(_ name: String) async throws {
        try await delete("\(url.path)/players/\(try await id(ofPlayer: name))")
    }

    private func id(ofPlayer name: String) async throws -> String {
        try await players().filter { $0.state != .ended }.id(of: name, "among the room's players")
    }

    /// The players of the room: those that go on, then the last ones that have ended.
    public func players() async throws -> [PlayerDescription] {
        try await get("\(url.path)/players", as: PlayerList.self).players
    }

    private static func decode<Value: Decodable>(_ response: HTTPClient.Answer) throws -> Value {
        do {
            return try JSONDecoder().decode(Value.self, from: Data(response.body))
        } catch {
            throw ClientError.failed(reason: "the relay's answer cannot be understood: \(error)")
        }
    }

    /// Sends JSON.
    func put(_ value: some Encodable, to path: String) async throws {
        _ = try await exchange(.put, path, body: try Self.json(value))
    }

    private static func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    func delete(_ path: String) async throws { _ = try await exchange(.delete, path) }

    /// Reads JSON.
    func get<Value: Decodable>(_ path: String, as _: Value.Type) async throws -> Value {
        try Self.decode(try await exchange(.get, path))
    }

    private func exchange(
        _ method: HTTPClient.Method, _ path: String, body: String? = nil
    ) async throws -> HTTPClient.Answer {
        var (url, path) = (url, path)
        for _ in 0...RoomURL.maximumRedirections {
            let response = try await Signalling(url).exchange(
                method, path, contentType: body == nil ? nil : "application/json", body: body ?? "")
            if response.isSuccess { return response }
            // In a cluster another relay may have the room.
            guard response.status == 307 || response.status == 308,
                let next = response.head.values(of: "Location").first.flatMap(url.redirected(to:))
            else {
                throw ClientError.relayRefused(
                    url: "\(url)", status: response.status, reason: response.refusal)
            }
            (url, path) = next
        }
        throw ClientError.relayRefused(
            url: "\(url)", status: 307, reason: "relays send us on and on, and none has the room")
    }
}
