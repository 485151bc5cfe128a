import Glibc
import MediaCore
import RoomAPI

/// Follows when, between two ticks, the pictures of one source are decoded, so that ticks come just after.
///
/// A camera's frames come at a steady pace, but at a moment of its own within a tick's interval: without this, each
/// would wait half an interval on average. The moments are averaged as directions on a circle. Their scatter says how
/// long after the mean a tick has to come to find nearly all of them decoded; where it is large, as for a camera whose
/// frame rate is another, there is no moment to keep to.
struct PhaseLock {
    /// The number of pictures that count for the mean, and the number that it takes to begin.
    private static let memory = 16.0
    private static let least = 8
    /// The length of the mean direction, 1 where all moments are the same, from which on ticks follow.
    private static let leastConcentration = 0.6
    /// The number of standard deviations after the mean at which a tick comes: 2 misses one picture of forty.
    private static let deviations = 2.0
    /// The least time after the mean at which a tick comes, because a completion has to reach the room.
    private static let leastMargin = Duration.microseconds(500)
    /// A tick comes no more than this part of an interval after the mean.
    private static let greatestMargin = 0.5

    private(set) var source: SourceID?
    private var frequency = 1
    private var mean = (x: 0.0, y: 0.0)
    private var count = 0

    /// Follows another source, or ticks of another frequency.
    mutating func follow(_ source: SourceID?, frequency: Int) {
        guard source != self.source || frequency != self.frequency else { return }
        self.source = source
        self.frequency = max(1, frequency)
        (mean, count) = ((0, 0), 0)
    }

    /// Takes the moment at which a picture of the source was decoded.
    mutating func observe(_ decoded: MonotonicInstant) {
        count += 1
        let angle = 2 * Double.pi * Self.phase(of: decoded, frequency: frequency)
        let weight = max(1 / Double(count), 1 / Self.memory)
        mean.x += (cos(angle) - mean.x) * weight
        mean.y += (sin(angle) - mean.y) * weight
    }

    /// The time by which ticks should come later, or earlier if it is negative; nil if there is no moment to keep to.
    ///
    /// - Parameter tick: When a tick is due as things are.
    func error(of tick: MonotonicInstant) -> Duration? {
        let concentration = (mean.x * mean.x + mean.y * mean.y).squareRoot()
        guard source != nil, count >= Self.least, concentration >= Self.leastConcentration else { return nil }
        let interval = 1 / Double(frequency)
        let deviation = (-2 * log(min(concentration, 1))).squareRoot() / (2 * .pi)
        let margin = min(
            max(Self.deviations * deviation, Self.leastMargin.seconds / interval), Self.greatestMargin)
        let wanted = atan2(mean.y, mean.x) / (2 * .pi) + margin
        let error = (wanted - Self.phase(of: tick, frequency: frequency)).remainder(dividingBy: 1)
        return .seconds(clamping: error * interval)
    }

    /// Where an instant is in its interval, 0 to 1. A second holds a whole number of intervals.
    private static func phase(of instant: MonotonicInstant, frequency: Int) -> Double {
        let inSecond = instant.nanoseconds % 1_000_000_000
        return Double(inSecond * Int64(frequency) % 1_000_000_000) / 1e9
    }
}

extension Room {
    /// The source that people look at: the one that is pinned, a shared screen, or who speaks; else the first that
    /// there is.
    private var focus: SourceID? {
        if let id = layout.mode.participant, let pinned = participant(publicID: id) {
            return SourceID(participant: pinned.id, content: pinned.sharesScreen ? .screenShare : .camera)
        }
        if let presenter = presenters.last { return .screenShare(presenter) }
        if let speaker = audio.activeSpeaker, participant(speaker)?.sendsVideo == true { return .camera(speaker) }
        return participants.first { $0.uplink?.newest != nil }.map { .camera($0.id) }
    }

    /// Moves ticks a little towards the moment at which the picture that people look at is decoded.
    func followFocus() {
        phaseLock.follow(focus, frequency: videoTicks.ticksPerSecond)
        if let error = phaseLock.error(of: videoTicks.nextAwake) { videoTicks.shift(by: error) }
    }

    /// A source's new picture was decoded.
    func pictureDecoded(of source: SourceID, at instant: MonotonicInstant) {
        if source == phaseLock.source { phaseLock.observe(instant) }
    }
}
