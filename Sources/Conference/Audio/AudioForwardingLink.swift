import MediaCore

/// A receiver's choice between the mix and the packets of the only other participant that is heard.
///
/// The present audio continues until a packet of the new one comes; the mix returns with a packet in which the other is
/// heard.
struct AudioForwardingLink {
    enum Phase: Equatable {
        /// The mix is sent.
        case mixed
        /// The mix is sent until the next packet of this participant comes.
        case awaiting(ParticipantID)
        /// The packets of this participant are sent.
        case passing(ParticipantID)
        /// The packets of this participant are sent until a packet of the mix comes.
        case returning(ParticipantID, since: MonotonicInstant)
    }

    /// The rates, with headers, and the losses by which the choice is made.
    struct Reading {
        /// The rate of the packets that come.
        var rate: BitRate
        /// The receiver's rate of audio.
        var allowed: BitRate
        /// The share of its packets that the receiver loses, 0 to 1.
        var loss: Double
    }

    /// The loss above which the mix repairs better, because its encoder knows this receiver's losses.
    private static let loss = (toBegin: 0.01, toGoOn: 0.03)
    /// The accepted ratio of the packets' rate to the receiver's audio rate.
    private static let excess = (toBegin: 1.25, toGoOn: 1.5)
    /// The time for which all conditions must hold before forwarding begins, and the additional time after a failure.
    private static let settling = Duration.seconds(2)
    private static let holdOff = Duration.seconds(10)
    /// The longest wait until the other is heard in the mix, since no more packets may come.
    private static let playPatience = Duration.milliseconds(300)

    private(set) var phase = Phase.mixed
    /// The reason for which the packets are not forwarded; nil if they are, or may soon be.
    private(set) var obstacle: AudioForwardingObstacle?
    private var clearSince: MonotonicInstant?
    private var heldOffUntil = MonotonicInstant.zero

    var packets: UInt64 = 0
    /// The number of changes between the packets and the mix.
    private(set) var switches: UInt64 = 0

    /// The participant whose packets the receiver gets.
    var source: ParticipantID? {
        switch phase {
        case .mixed, .awaiting: nil
        case .passing(let source), .returning(let source, _): source
        }
    }

    /// Returns true if packets of a participant are sent to the receiver, or will be.
    func concerns(_ sender: ParticipantID) -> Bool { phase == .awaiting(sender) || source == sender }

    /// True if the mixer makes packets for the receiver.
    var isMixed: Bool {
        if case .passing = phase { false } else { true }
    }

    /// Returns true if a packet of a participant may be sent. Packets with too high a rate are not sent, until a mix
    /// comes: they leave unpaced, and a burst of them would fill the receiver's path before the next decision.
    ///
    /// - Parameters:
    ///   - rate: The rate of the packets that come, with this one.
    ///   - allowed: The receiver's rate of audio.
    func passes(_ sender: ParticipantID, rate: BitRate, allowed: BitRate) -> Bool {
        source == sender && obstacle != .rate && rate <= allowed * Self.excess.toGoOn
    }

    /// Decides whether packets are forwarded to the receiver. Returns true if the mixer must make packets for it again.
    ///
    /// - Parameter sole: The only other participant that it hears; nil if there are several, or none.
    mutating func consider(_ sole: (id: ParticipantID, reading: Reading)?, now: MonotonicInstant) -> Bool {
        switch phase {
        case .mixed, .awaiting:
            obstacle = obstacle(sole?.reading, loss: Self.loss.toBegin, excess: Self.excess.toBegin)
            guard obstacle == nil, let sole, now >= heldOffUntil else {
                (phase, clearSince) = (.mixed, nil)
                return false
            }
            let since = clearSince ?? now
            clearSince = since
            phase = now - since >= Self.settling ? .awaiting(sole.id) : .mixed
        case .passing(let source):
            obstacle = obstacle(
                sole.flatMap { $0.id == source ? $0.reading : nil }, loss: Self.loss.toGoOn,
                excess: Self.excess.toGoOn)
            guard let obstacle else { return false }
            if obstacle != .notAlone { heldOffUntil = now + Self.holdOff }
            (phase, clearSince) = (.returning(source, since: now), nil)
            return true
        case .returning: break
        }
        return false
    }

    private func obstacle(_ reading: Reading?, loss: Double, excess: Double) -> AudioForwardingObstacle? {
        guard let reading else { return .notAlone }
        if reading.loss > loss { return .loss }
        return reading.rate > reading.allowed * excess ? .rate : nil
    }

    /// Records that the first packet of the awaited participant is sent.
    mutating func begin() {
        guard case .awaiting(let source) = phase else { return }
        phase = .passing(source)
        switches &+= 1
    }

    /// Takes a packet that the mixer has made. Returns true if it must be sent.
    ///
    /// - Parameter isPlayed: Returns true if a source is audible in it; it is not right after the mixer begins to
    ///   decode the source.
    mutating func takesMix(now: MonotonicInstant, isPlayed: (ParticipantID) -> Bool) -> Bool {
        switch phase {
        case .mixed, .awaiting: return true
        case .passing: return false
        case .returning(let source, let since):
            guard isPlayed(source) || now - since > Self.playPatience else { return false }
            phase = .mixed
            switches &+= 1
            return true
        }
    }

    /// Returns to the mix, or to no audio at all.
    mutating func reset() { (phase, obstacle, clearSince) = (.mixed, nil, nil) }
}

/// The reason for which a receiver gets the mix and not another participant's packets.
enum AudioForwardingObstacle: Equatable {
    /// The receiver hears several participants, or nobody.
    case notAlone
    /// The receiver loses packets.
    case loss
    /// The packets have a higher rate than the receiver may get.
    case rate
}
