import AudioMixing
import MediaCore
import PeerConnection
import RTP
import RoomAPI

/// Decides what of a room is recorded: each source's own frames and packets, and the mix, on one clock.
///
/// It sees what the room shows and plays. A camera whose owner says that it is off is not recorded. A track of video
/// begins, and goes on after an interruption, with a keyframe.
final class RoomRecorder {
    let id: String
    let began: MonotonicInstant
    private let log: RecordingLog
    private var tracks: [Key: Track] = [:]
    /// The placing of each member's pictures beside the member's audio.
    private var lipSyncs: [ParticipantID: LipSync] = [:]
    /// The number of files that each member's tracks may still begin.
    private var files: [ParticipantID: TokenBucket] = [:]
    /// The number of jumps of clocks and of turns of pictures of each member that may still be told.
    private var changes: [ParticipantID: TokenBucket] = [:]

    /// A member of the room whose tracks are recorded.
    struct Member {
        var id: ParticipantID
        /// The id in the names of files.
        var publicID: String
    }

    private struct Key: Hashable {
        var participant: ParticipantID
        var content: RecordingTrack.Content
    }

    private struct Track {
        let name: RecordingTrack
        var clock = TrackClock()
        var order = PacketOrder()
        var timestamps = TimestampUnwrapper()
        /// True if frames before the next keyframe cannot be decoded from the file.
        var awaitsKeyframe = true
        var lastRequest: MonotonicInstant?
        /// The time by which pictures are moved to their audio.
        var shift = LipSync.Shift()
        /// True if anything of it has been handed on since it began or ended.
        var isOpen = false
        /// The format of the file that the frames go to.
        var format: VideoFormatDescription?
        /// The rotation that was handed on last.
        var rotation = VideoRotation.none
        /// The arrival of the last frame or packet that was handed on.
        var newest: MonotonicInstant?
    }

    /// The time between two requests for a keyframe while none comes.
    private static let requestInterval = Duration.seconds(1)
    /// The files that a member may begin each second in the long run, and at once. The writer waits for the disk at the
    /// end of each, so a stream that ends, or changes its format, with each keyframe would take the others' time.
    private static let newFiles = (rate: 1.0, burst: 30.0)
    /// The jumps of a member's clocks and the turns of its pictures that the timeline tells each second in the long
    /// run, and at once. Of a sender whose times jump with each packet, a film has nothing to measure by anyhow.
    private static let toldChanges = (rate: 1.0, burst: 30.0)
    /// A track of which nothing has come for longer ends. In one MP4 file, two samples may be at most 2³¹ ticks apart,
    /// which is six hours of pictures: libavformat would write all that follows without intervals.
    private static let longestSilence = Duration.seconds(3600)

    init(id: String, log: RecordingLog, now: MonotonicInstant) {
        self.id = id
        self.log = log
        began = now
    }

    // MARK: Media

    /// Takes a frame. Returns whether its sender is to be asked for a keyframe.
    func record(_ frame: ReceivedVideoFrame, of member: Member, now: MonotonicInstant) -> Bool {
        let content = RecordingTrack.Content(SourceContent(frame.content))
        let key = Key(participant: member.id, content: content)
        endIfSilent(key, now: now)
        var track = tracks[key] ?? Track(name: RecordingTrack(participant: member.publicID, content: content))
        defer { tracks[key] = track }
        if frame.sample.isSync {
            let beginsFile = !track.isOpen || track.format != frame.sample.format
            track.awaitsKeyframe = beginsFile && !takeFile(of: member.id, now: now)
            if !track.awaitsKeyframe { track.format = frame.sample.format }
        }
        guard !track.awaitsKeyframe else {
            guard track.lastRequest.map({ now - $0 >= Self.requestInterval }) ?? true else { return false }
            track.lastRequest = now
            return true
        }
        let reading = track.clock.time(of: frame.sample.presentationTime, arrival: frame.firstArrival)
        if reading.isAnchor { tellAnchor(of: track, of: member.id, at: reading.time, now: now) }
        lipSyncs[member.id, default: LipSync()].move(
            &track.shift, ofPictureAt: reading.time, senderTime: frame.senderTime)
        var sample = frame.sample
        sample.presentationTime = mediaTime(reading.time + track.shift.value, timescale: 90_000)
        (track.isOpen, track.newest) = (true, now)
        if frame.rotation != track.rotation, takeChange(of: member.id, now: now) { track.rotation = frame.rotation }
        append(.video(sample, track.rotation), to: track.name, at: now)
        return false
    }

    func record(_ packet: ReceivedAudioPacket, of member: Member) {
        let key = Key(participant: member.id, content: .audio)
        endIfSilent(key, now: packet.arrival)
        var track = tracks[key] ?? Track(name: RecordingTrack(participant: member.publicID, content: .audio))
        var order = track.order
        order.insert(packet) { write($0, to: &track, of: key) }
        track.order = order
        tracks[key] = track
    }

    private func write(_ packet: ReceivedAudioPacket, to track: inout Track, of key: Key) {
        guard let count = OpusDecoder.sampleCount(of: packet.payload),
            track.isOpen || takeFile(of: key.participant, now: packet.arrival)
        else { return }
        let media = MediaTime(value: track.timestamps.unwrap(packet.rtpTimestamp), timescale: 48_000)
        let reading = track.clock.time(of: media, arrival: packet.arrival)
        if reading.isAnchor { tellAnchor(of: track, of: key.participant, at: reading.time, now: packet.arrival) }
        if let senderTime = packet.senderTime {
            lipSyncs[key.participant, default: LipSync()].audioPlaced(at: reading.time, senderTime: senderTime)
        }
        (track.isOpen, track.newest) = (true, packet.arrival)
        append(
            .audio(
                BlockBuffer(packet.payload), time: mediaTime(reading.time, timescale: 48_000),
                duration: MediaTime(value: Int64(count), timescale: 48_000)),
            to: track.name, at: packet.arrival)
    }

    /// Takes the mix of a tick.
    func record(_ mix: EncodedAudio, at time: MonotonicInstant) {
        guard time >= began else { return }
        append(
            .audio(
                BlockBuffer(mix.payload), time: mediaTime(time, timescale: 48_000),
                duration: MediaTime(value: Int64(AudioFormat.frameSampleCount), timescale: 48_000)),
            to: .mix, at: time)
    }

    /// Returns true if a track of the member may begin a file now, which counts as begun.
    private func takeFile(of participant: ParticipantID, now: MonotonicInstant) -> Bool {
        files[participant, default: TokenBucket(rate: Self.newFiles.rate, capacity: Self.newFiles.burst)]
            .take(now: now)
    }

    private func tellAnchor(
        of track: Track, of participant: ParticipantID, at time: MonotonicInstant, now: MonotonicInstant
    ) {
        if takeChange(of: participant, now: now) { append(.anchored, to: track.name, at: time) }
    }

    /// Returns true if the timeline may tell a change of the member's tracks now, which counts as told.
    private func takeChange(of participant: ParticipantID, now: MonotonicInstant) -> Bool {
        let (rate, burst) = Self.toldChanges
        return changes[participant, default: TokenBucket(rate: rate, capacity: burst, now: now)].take(now: now)
    }

    // MARK: Ends

    /// A source's stream has ended, for now at least, or is not to be seen any longer.
    func end(_ content: SourceContent, of participant: ParticipantID, now: MonotonicInstant) {
        end(Key(participant: participant, content: RecordingTrack.Content(content)), now: now)
    }

    func endAudio(of participant: ParticipantID, now: MonotonicInstant) {
        end(Key(participant: participant, content: .audio), now: now)
    }

    /// A participant has left.
    func remove(_ participant: ParticipantID, now: MonotonicInstant) {
        for content in RecordingTrack.Content.allCases {
            end(Key(participant: participant, content: content), now: now)
        }
        lipSyncs[participant] = nil
        files[participant] = nil
        changes[participant] = nil
    }

    /// Hands on what waits for its turn; nothing is recorded any more.
    func finish(now: MonotonicInstant) {
        for key in tracks.keys { end(key, now: now) }
    }

    /// Ends a track that was silent for too long, before it goes on.
    private func endIfSilent(_ key: Key, now: MonotonicInstant) {
        guard let newest = tracks[key]?.newest, now - newest > Self.longestSilence else { return }
        end(key, now: now)
    }

    private func end(_ key: Key, now: MonotonicInstant) {
        guard var track = tracks.removeValue(forKey: key) else { return }
        var order = track.order
        order.flush { write($0, to: &track, of: key) }
        if track.isOpen { append(.trackEnded, to: track.name, at: now) }
    }

    /// Frames of a track could not be written: it goes on with a keyframe.
    func lostFrames(of name: RecordingTrack) {
        guard let key = tracks.first(where: { $0.value.name == name })?.key else { return }
        tracks[key]?.awaitsKeyframe = true
        tracks[key]?.lastRequest = nil
    }

    // MARK: Times

    private func append(_ content: RecordingItem.Content, to track: RecordingTrack, at time: MonotonicInstant) {
        log.append(RecordingItem(recording: id, track: track, at: max(time - began, .zero), content: content))
    }

    /// A time on the recording's clock. What was sent before it began and came later counts as its beginning.
    private func mediaTime(_ time: MonotonicInstant, timescale: Int32) -> MediaTime {
        MediaTime(max(time - began, .zero), timescale: timescale)
    }
}

extension RecordingTrack.Content {
    fileprivate init(_ content: SourceContent) {
        self =
            switch content {
            case .camera: .camera
            case .screenShare: .screenShare
            }
    }
}
