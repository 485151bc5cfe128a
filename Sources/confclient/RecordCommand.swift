import ArgumentParser
import ConferenceClient
import MediaCore
import RoomAPI

struct RecordCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record", abstract: "Start, stop and list the recordings that the relay makes of a room.",
        discussion: """
            The relay records if it was started with --recordings DIR; the files lie there, on the relay's machine \
            (docs/recording.md).

            confclient record start URL   what each participant sends; prints the id
            confclient record start URL --composite --layout speaker      one film of all
            confclient record stop URL    ends the recording that goes on
            confclient record list URL    the newest first; --json for programs
            """, subcommands: [Start.self, Stop.self, List.self])

    struct Start: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Start to record a room with participants.")

        @OptionGroup var room: RoomArgument

        @Flag(help: "Record one picture of the whole room and the mix, in place of what each participant sends.")
        var composite = false

        @OptionGroup var picture: CompositeOptions

        func validate() throws {
            guard composite || picture.isEmpty else {
                throw ValidationError("--layout, --size and --bitrate are for --composite")
            }
        }

        func run() async throws {
            let request =
                composite ? RecordingRequest(mode: .composite, composite: picture.settings) : RecordingRequest()
            try await room.perform { try await Terminal.output($0.startRecording(request).id) }
        }
    }

    struct Stop: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "End a recording. Its files stay.")

        @OptionGroup var room: RoomArgument

        func run() async throws {
            try await room.perform { controller in
                let active = try await controller.recordings().filter { $0.state == .recording }
                guard let recording = active.first else {
                    throw ClientError.nothingToEnd(reason: "\(room.url) is not recorded")
                }
                try await controller.endRecording(recording.id)
                try Terminal.output(recording.id)
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the recordings of a room, the newest first.")

        @OptionGroup var room: RoomArgument

        @Flag(help: "Print JSON.")
        var json = false

        func run() async throws {
            try await room.perform { controller in
                let recordings = try await controller.recordings()
                guard !json else { return try Terminal.output(json: RecordingList(recordings)) }
                // A relay cannot tell a room of the past from a name with a mistake in it.
                if recordings.isEmpty { Terminal(isQuiet: false).fail("there are no recordings of \(room.url)") }
                for recording in recordings {
                    let length = recording.duration.map { "\(Int(clamping: $0.rounded())) s" } ?? "-"
                    try Terminal.output("\(recording.id)  \(recording.state.rawValue)  \(length)")
                }
            }
        }
    }
}
