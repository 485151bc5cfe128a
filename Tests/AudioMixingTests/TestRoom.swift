import MediaCore

@testable import AudioMixing

/// A room of people who each hold a tone, and the audio that each of them hears.
struct TestRoom {
    var session = AudioMixingSession()
    var input = AudioMixingInput()
    var senders: [ParticipantID: TestSender] = [:]
    var decoders: [ParticipantID: OpusDecoder] = [:]
    var tick = 0
    /// The number of encodes in the last tick.
    var encodeCount = 0
    /// Ticks at which more than one encode was made.
    var ownEncodes = 0

    mutating func join(_ id: ParticipantID, tone frequency: Double?, settings: AudioEncoderSettings = .init())
        throws
    {
        if let frequency {
            var sender = try TestSender()
            sender.signal = { tone(frequency, from: $0, count: $1) }
            senders[id] = sender
        }
        decoders[id] = try OpusDecoder()
        input.apply(.addSource(id))
        input.apply(.addReceiver(id, settings))
    }

    /// Runs `ticks` ticks. Returns the audio that each one heard.
    mutating func run(_ ticks: Int) throws -> [ParticipantID: [Float]] {
        var heard: [ParticipantID: [Float]] = [:]
        for _ in 0..<ticks {
            let now = MonotonicInstant.at(Double(tick) * 20)
            for id in Array(senders.keys) {
                guard var packet = try senders[id]?.next().packet else { continue }
                packet.arrival = now
                input.insert(packet, from: id)
            }
            let result = session.tick(input.take(), now: now)
            encodeCount = result.encodeCount
            if encodeCount > 2 || (encodeCount == 2 && senders.count == 2) { ownEncodes += 1 }
            for (id, packet) in result.packets {
                heard[id, default: []] += try decoders[id]?.decode(packet.payload) ?? []
            }
            tick += 1
        }
        return heard
    }
}
