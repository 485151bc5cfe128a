import ArgumentParser
import Foundation
import LoadControl
import RelayServer

/// The limits of the relay's work.
struct LimitOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Threads that decode, compose, mix and encode; default: one for each core.", valueName: "n"))
    var workers: Int = RelayServerConfiguration().workers

    @Option(
        help: ArgumentHelp(
            "Maximum of video encoders in a room, or 'dedicated': one for each receiver.",
            discussion: """
                With more receivers, those with the same view share an encoder at a common rate. A picture that only \
                one receiver sees needs its own encoder in any case. Default: two for each core.
                """,
            valueName: "n"))
    var maxEncoders = EncoderLimit.forThisMachine

    @Option(
        help: ArgumentHelp(
            "Reduce the cost of pictures, and then refuse joins, before the machine is overloaded: on or off.",
            discussion: """
                The relay measures the machine for 0.8 s at its start. GET /readyz and /metrics show how many \
                seats are left.
                """))
    var overloadControl = Switch.on

    @Option(help: ArgumentHelp("Maximum of participants in a room; further joins get 503.", valueName: "n"))
    var maxParticipants = 50

    @Option(
        help: ArgumentHelp(
            "Seconds (8 at least) without an authentic packet until a participant without ICE has left; with ICE, 30.",
            valueName: "seconds"))
    var idleTimeout = 30

    @Flag(
        help: ArgumentHelp(
            "Send media to receivers that never send a packet, not even RTCP.",
            discussion: """
                For players on other machines whose offers contain keys (a=crypto), such as ffmpeg. The relay cannot \
                notice that such a receiver has gone, and sends media until DELETE. Receivers on this machine need no \
                option.
                """))
    var allowSilentReceivers = false

    /// The settings of overload control; nil if it is off.
    var overloadSettings: OverloadSettings? { overloadControl == .on ? OverloadSettings(workers: busyWorkers) : nil }

    /// Workers that have a processor each.
    var busyWorkers: Int { min(workers, ProcessInfo.processInfo.activeProcessorCount) }

    @Option(
        help: ArgumentHelp(
            "Maximum of simultaneous HTTP connections; one address may hold at most half of them.", valueName: "n"))
    var maxConnections = RelayServerConfiguration().maximumConnections

    @Option(
        help: ArgumentHelp(
            "Maximum of voices heard at once: the loudest.", valueName: "n"))
    var maxVoices = 6

    func validate() throws {
        guard (1...1024).contains(workers) else {
            throw ValidationError("--workers \(workers) is not possible: choose 1 to 1024 threads")
        }
        try maxEncoders.check()
        guard (1...1000).contains(maxParticipants) else {
            throw ValidationError("--max-participants \(maxParticipants) is not possible: choose 1 to 1000")
        }
        guard (1...1000).contains(maxVoices) else {
            throw ValidationError("--max-voices \(maxVoices) is not possible: choose 1 to 1000")
        }
        guard (16...16_384).contains(maxConnections) else {
            throw ValidationError("--max-connections \(maxConnections) is not possible: choose 16 to 16384")
        }
        // The RTCP reports of a receiver may be 7.5 s apart (RFC 3550, 6.2).
        guard (8...86_400).contains(idleTimeout) else {
            throw ValidationError("--idle-timeout \(idleTimeout) is not possible: choose 8 to 86400 seconds")
        }
    }
}
