import MediaCore
import RTP

/// Brings the pictures of a sender to its audio, by what its sender reports say of both (RFC 3550 6.4.1).
///
/// `TrackClock` places each stream by the packets that travelled fastest. Frames leave their sender later than the
/// audio of the same instant, because encoding takes longer. The reports say by how much.
struct LipSync {
    /// Reports that put pictures farther from the audio are not believed: the sender's wall clock was set meanwhile, or
    /// is none.
    static let limit = Duration.milliseconds(500)
    /// Where the audio was this long ago says nothing of where it would be now.
    static let memory = Duration.seconds(10)
    /// The speed with which pictures move towards the audio, in seconds a second: nobody sees frames that are 2 %
    /// apart.
    private static let slew = 0.02

    /// The time by which the pictures of one stream are moved.
    struct Shift {
        private(set) var value = Duration.zero
        private var moved: MonotonicInstant?

        /// Goes towards a value: at once before the first picture, slowly later.
        ///
        /// - Parameter wanted: Nil: it stays.
        mutating func approach(_ wanted: Duration?, at time: MonotonicInstant) {
            let last = moved
            moved = max(time, last ?? time)
            guard let wanted else { return }
            guard let last else {
                value = wanted
                return
            }
            let most = Duration.seconds(clamping: max(time - last, .zero).seconds * LipSync.slew)
            value += min(max(wanted - value, .zero - most), most)
        }
    }

    /// A place on the room's clock and on the sender's.
    private var audio: (time: MonotonicInstant, senderTime: NTPTime)?

    /// An audio packet of this time was placed.
    mutating func audioPlaced(at time: MonotonicInstant, senderTime: NTPTime) {
        audio = (time, senderTime)
    }

    /// Moves the shift of a stream towards its audio: at once before its first picture, slowly later.
    ///
    /// - Parameters:
    ///   - time: Where a picture is placed without a shift.
    ///   - senderTime: Nil: no report has come.
    func move(_ shift: inout Shift, ofPictureAt time: MonotonicInstant, senderTime: NTPTime?) {
        shift.approach(senderTime.flatMap { difference(at: time, senderTime: $0) }, at: time)
    }

    /// The time by which the audio that was captured with a picture lies later than the picture.
    private func difference(at time: MonotonicInstant, senderTime: NTPTime) -> Duration? {
        guard let audio, (time - audio.time).nanoseconds.magnitude <= Self.memory.nanoseconds.magnitude else {
            return nil
        }
        let difference = senderTime.duration(since: audio.senderTime) - (time - audio.time)
        return difference.nanoseconds.magnitude <= Self.limit.nanoseconds.magnitude ? difference : nil
    }
}
