import ArgumentParser
import ConferenceClient

/// A room that a command acts on by the relay's HTTP interface, and the proof that it may.
struct RoomArgument: ParsableArguments {
    @Argument(help: "The room, such as http://127.0.0.1:7000/rooms/demo, or by https.")
    var url: String

    @OptionGroup
    var access: AccessOptions

    func validate() throws {
        do {
            _ = try RoomURL(url)
        } catch {
            throw ValidationError(error.description)
        }
    }

    func perform(_ work: (RoomController) async throws -> Void) async throws {
        do {
            try await work(RoomController(url: try access.roomURL(url)))
        } catch let error as ClientError {
            Terminal(isQuiet: false).fail(error.description)
            throw ExitCode(error.exitCode)
        }
    }
}
