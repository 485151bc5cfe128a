import MediaCore

/// The relay's cost and work in a period.
struct RelayMeasurement: Sendable {
    /// The purpose of the relay's threads.
    enum ThreadRole: String, Codable, CaseIterable, Sendable {
        /// Decoding, composing, encoding and mixing.
        case workers
        /// Sockets, RTP, SRTP, rate control.
        case eventLoop
        case other

        init(threadName: String) {
            self =
                if threadName.hasPrefix("codec-") { .workers } else if threadName.hasPrefix("NIO-") { .eventLoop } else
                {
                    .other
                }
        }
    }

    var seconds: Double
    /// Processor seconds a second, of the relay and of the clients.
    var cores: Double
    var loadCores: Double = 0
    var threadCores: [ThreadRole: Double] = [:]
    var work: WorkRate
    /// Frames that went to receivers each second, all together.
    var deliveries: Double = 0
    var missedTicks: UInt64 = 0
    var lateAudioTicks: UInt64 = 0
    /// Pictures left out for a receiver: its encoder was busy, or its network full.
    var framesDropped: UInt64 = 0
    var keyframes: UInt64 = 0
    /// The last target of the first receiver's encoder.
    var videoBitsPerSecond: Int64 = 0
}

extension RelayMeasurement {
    init(from first: Reading, to last: Reading, hasSound: Bool) {
        let seconds = (last.time - first.time).seconds
        func rate(_ counter: KeyPath<RoomReading.Participant, UInt64>) -> Double {
            (last.room.sum(counter) - first.room.sum(counter)) / seconds
        }
        func difference(_ counter: KeyPath<RoomReading, UInt64>) -> UInt64 {
            last.room[keyPath: counter] &- first.room[keyPath: counter]
        }
        var work = WorkRate(participants: last.room.participants.count, way: .personal, hasSound: hasSound)
        work.decodes = rate(\.uplink.framesDecoded)
        work.compositions = Double(difference(\.composedPictures)) / seconds
        work.encodes = Double(difference(\.encoding.frames)) / seconds
        var threadCores = Dictionary(uniqueKeysWithValues: ThreadRole.allCases.map { ($0, 0.0) })
        for (name, time) in last.threads {
            let spent = time - (first.threads[name] ?? .zero)
            threadCores[ThreadRole(threadName: name), default: 0] += spent.seconds / seconds
        }
        self.init(
            seconds: seconds, cores: (last.relay - first.relay).seconds / seconds,
            loadCores: (last.load - first.load).seconds / seconds, threadCores: threadCores, work: work,
            deliveries: rate(\.downlink.framesEncoded), missedTicks: difference(\.missedTicks),
            lateAudioTicks: difference(\.lateAudioTicks),
            framesDropped: UInt64((rate(\.downlink.framesDropped) * seconds).rounded()),
            keyframes: UInt64((rate(\.downlink.keyframes) * seconds).rounded()),
            videoBitsPerSecond: last.room.participants.first?.downlink.videoBitRate ?? 0)
    }

    /// Several stretches as one: rates are means over their time, counts are sums.
    init(joining parts: [RelayMeasurement]) {
        let seconds = parts.reduce(0) { $0 + $1.seconds }
        func mean(_ rate: (RelayMeasurement) -> Double) -> Double {
            seconds > 0 ? parts.reduce(0) { $0 + rate($1) * $1.seconds } / seconds : 0
        }
        func sum(_ count: KeyPath<RelayMeasurement, UInt64>) -> UInt64 {
            parts.reduce(0) { $0 &+ $1[keyPath: count] }
        }
        let roles = ThreadRole.allCases.map { role in (role, mean { $0.threadCores[role] ?? 0 }) }
        self.init(
            seconds: seconds, cores: mean(\.cores), loadCores: mean(\.loadCores),
            threadCores: Dictionary(uniqueKeysWithValues: roles),
            work: WorkRate(
                decodes: mean(\.work.decodes), compositions: mean(\.work.compositions), encodes: mean(\.work.encodes),
                audioDecodes: mean(\.work.audioDecodes), audioEncodes: mean(\.work.audioEncodes)),
            deliveries: mean(\.deliveries), missedTicks: sum(\.missedTicks), lateAudioTicks: sum(\.lateAudioTicks),
            framesDropped: sum(\.framesDropped), keyframes: sum(\.keyframes),
            videoBitsPerSecond: parts.last?.videoBitsPerSecond ?? 0)
    }
}
