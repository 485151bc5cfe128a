import ArgumentParser
import CongestionControl
import FlightRecording
import Foundation
import MediaCore

/// `confsim record-replay`: runs a recorded controller again.
struct RecordReplay: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record-replay",
        abstract: "Runs the controller of a flight recording on the recorded inputs, and compares every decision.",
        discussion: """
            confrelay, confclient join and confsim replay make flight recordings with --flight-recorder. The same \
            controller must decide the same, to the bit. With --controller another one runs on the same inputs: it is \
            told the results of the recorded decisions, not of its own (an open loop).

            Exit codes: 0 done, 1 the controller decides otherwise than recorded, 64 wrong usage, 66 an input that \
            cannot be read or understood, 73 an output that cannot be written.
            """)

    @Argument(help: ArgumentHelp("A flight recording.", valueName: "call.flight"))
    var file: String

    @Option(help: "Another controller to run on the same inputs: \(RecordedController.names).")
    var controller: String?

    @Option(help: ArgumentHelp("Write rates and delays over time to this file as CSV.", valueName: "file"))
    var csv: String?

    @Option(help: "Time between rows of the CSV. Default: 200ms.", transform: OptionValue.duration)
    var interval: Duration = .milliseconds(200)

    func validate() throws {
        if let controller, RecordedController(name: controller) == nil {
            throw ValidationError(
                "There is no controller '\(controller)' to run on a recording; there are \(RecordedController.names).")
        }
        guard interval >= .milliseconds(10) else { throw ValidationError("--interval must be at least 10ms.") }
    }

    func run() throws {
        var flight = try FlightFile.open(file)
        let header = flight.header
        let isOther = controller != nil && controller != header.controller
        guard let kind = RecordedController(name: controller ?? header.controller) else {
            throw InputError.unusable(
                "\(file): it is of a controller '\(FlightFile.shown(header.controller))', which this program does not "
                    + "have; run another with --controller")
        }
        let recorded: any CongestionController
        do throws(ConfrelayParameters.ScalingError) {
            recorded = try kind.make(header)
        } catch {
            throw InputError.unusable(
                "\(file): the controller was recorded with changed constants: \(FlightFile.shown("\(error)"))")
        }
        var replay = FlightReplay(controller: recorded)
        var analysis = FlightAnalysis(header: header, interval: interval)
        while let record = try FlightFile.next(&flight, of: file) {
            let replayed = replay.apply(record)
            analysis.add(record, replayed: isOther ? replayed : nil)
        }
        let path = analysis.path
        if let csv {
            let table = FlightTable(analysis: analysis, path: path, hasOther: isOther)
            try Output.write(Data(table.text.utf8), to: csv)
        }
        try Output.writeResult(
            FlightText(
                analysis: analysis, path: path, ending: flight.ending, other: isOther ? controller : nil,
                decisionCount: replay.decisionCount
            ).text, besides: [csv])
        guard !isOther else { return }
        if let difference = replay.firstDifference {
            let time = String(format: "%.6f", (difference.time - header.start).seconds)
            try Output.writeResult(
                "different: decision \(difference.index + 1) of \(replay.decisionCount), at \(time) s: "
                    + "\(difference.description); \(replay.differenceCount) decisions differ", besides: [csv])
            throw ExitCode(1)
        }
        try Output.writeResult("identical: all \(replay.decisionCount) decisions are reproduced", besides: [csv])
    }
}
