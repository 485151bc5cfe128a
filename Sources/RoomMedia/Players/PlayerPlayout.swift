import Compositing
import DequeModule
import MediaCore
import MediaFiles
import RoomAPI

/// When the decoded pictures and audio of a player are shown and heard. It has no clock: it is told the time.
///
/// The place in the film moves with the time, at the film's rate, while there is something to show. When there is
/// nothing, it stands, and goes on from what comes next. A live stream is played somewhat behind its newest packet;
/// when it has fallen too far behind, it goes on at the live edge.
struct PlayerPlayout {
    /// The next thing to do.
    enum Step {
        case show(PixelBuffer)
        /// 20 ms of audio, and when they were due: the caller may come late.
        case play([Float], due: MonotonicInstant)
        /// There is nothing to do before this time, unless something is decoded.
        case wait(until: MonotonicInstant)
        /// All is shown and heard.
        case end
    }

    /// Pictures that are decoded ahead.
    private static let picturesAhead = 3
    /// Audio that is decoded ahead.
    private static let audioAhead = Duration.milliseconds(200)
    /// The least and the greatest delay of a live stream behind its newest packet.
    static let liveDelays = Duration.milliseconds(100)...Duration.milliseconds(400)
    /// A live stream that has fallen so far behind goes on at its newest packet.
    static let longestLiveDelay = Duration.milliseconds(500)
    /// Audio that is so late is left out.
    private static let lateAudio = Duration.milliseconds(100)
    /// The longest gap in the times of a stream: where they jump by more, it goes on from the new ones.
    private static let longestJump = Duration.seconds(5)
    /// A picture that is shown on is handed out again after this time: it is not an old one.
    private static let repeatsAfter = Duration.milliseconds(500)
    static let frameSize = 960
    private static let frameDuration = Duration.milliseconds(20)

    private struct Picture {
        var picture: PixelBuffer
        var time: Duration
    }

    private struct Audio {
        var samples: [Float]
        var time: Duration
        /// Samples that were played.
        var used = 0
    }

    private let isLive: Bool
    /// The delay of a live stream behind its newest packet: grows until the audio comes in time.
    private var liveDelay = Self.liveDelays.lowerBound
    private let hasVideo: Bool
    private let hasAudio: Bool
    private var pictures = Deque<Picture>()
    private var audio = Deque<Audio>()
    private(set) var settings: PlayerSettings
    /// A live stream has but one rate.
    private var rate: Double { isLive ? 1 : settings.rate }
    /// The place in the film at a time; nil while it stands.
    private var anchor: (place: Duration, time: MonotonicInstant)?
    /// The place at which it stands.
    private var place: Duration
    /// The times of the picture and of the audio that came last; nil behind a seek.
    private var newest: (picture: Duration?, audio: Duration?) = (nil, nil)
    /// Where a seek leads: earlier pictures and audio are not for people. Nil when it was reached.
    private var target: Duration?
    /// True if one picture is to be shown although the film is paused, after a seek.
    private var owesPicture = true
    private var shown: PixelBuffer?
    private var lastShown: MonotonicInstant?
    /// True if no further picture or audio follows.
    private(set) var isEnded = false
    /// The place at which the last picture has been seen long enough; nil: not known yet.
    private var endOfPictures: Duration?
    private(set) var framesShown = 0
    private(set) var framesDropped = 0

    init(isLive: Bool, hasVideo: Bool, hasAudio: Bool, settings: PlayerSettings, place: Duration = .zero) {
        self.isLive = isLive
        self.hasVideo = hasVideo
        self.hasAudio = hasAudio
        self.settings = settings
        self.place = place
        target = place > .zero ? place : nil
    }

    // MARK: Changes

    /// The place in the film.
    func place(now: MonotonicInstant) -> Duration {
        guard let anchor else { return place }
        return anchor.place + (now - anchor.time) * rate
    }

    mutating func set(_ wanted: PlayerSettings, now: MonotonicInstant) {
        place = place(now: now)
        anchor = anchor.map { _ in (place, now) }
        if wanted.isPaused { anchor = nil }
        settings = wanted
    }

    /// Forgets all that was decoded, to go on at another place.
    mutating func seek(to place: Duration) {
        pictures.removeAll(keepingCapacity: true)
        audio.removeAll(keepingCapacity: true)
        self.place = place
        target = place
        newest = (nil, nil)
        anchor = nil
        owesPicture = true
        isEnded = false
    }

    /// Marks the end: no further picture or audio follows.
    mutating func end(lastPictureFor duration: Duration = .zero) {
        isEnded = true
        endOfPictures = newest.picture.map { $0 + duration }
    }

    /// True if a film of which nothing waits is over. One that is paused stays.
    private func isOver(at place: Duration) -> Bool {
        isEnded && (isLive || !settings.isPaused && place >= endOfPictures ?? place)
    }

    // MARK: In

    /// True if more is to be decoded.
    var wantsMore: Bool {
        guard !isEnded else { return false }
        let needsPicture = hasVideo && pictures.count < Self.picturesAhead
        let needsAudio = hasAudio && audioAhead < Self.audioAhead
        // A track that has ended before the other must not make the other's pictures pile up.
        let isFull = pictures.count >= Self.picturesAhead * 10 || audioAhead >= Self.audioAhead * 20
        return (needsPicture || needsAudio) && !isFull
    }

    /// By samples, not by times: those of a damaged film may run backwards.
    private var audioAhead: Duration { Self.duration(waitingSamples) }

    private var waitingSamples: Int { audio.reduce(0) { $0 + $1.samples.count - $1.used } }

    /// True if audio can be played. The last samples of a film do not fill a frame. Others wait for more: none come
    /// during a stall, or behind the end of their track.
    private var hasFrame: Bool { waitingSamples >= (isEnded ? 1 : Self.frameSize) }

    private static func duration(_ samples: Int) -> Duration { .seconds(1) * samples / Int(MediaDecoder.sampleRate) }

    mutating func take(_ output: MediaDecoder.Output, now: MonotonicInstant) {
        switch output {
        case .picture(let picture, let time):
            let time = time ?? pictures.last.map { $0.time + .milliseconds(33) } ?? place(now: now)
            followJump(to: time, now: now)
            newest.picture = time
            if let target, pictures.count == 1, time <= target { pictures.removeFirst() }
            pictures.append(Picture(picture: picture, time: time))
        case .audio(let samples, let time):
            let time = time ?? audio.last.map { $0.time + Self.duration($0.samples.count) } ?? place(now: now)
            followJump(to: time, now: now)
            newest.audio = time
            if let target, time + Self.duration(samples.count) <= target { return }
            delayForAudio(at: time, now: now)
            audio.append(Audio(samples: samples, time: time))
        }
    }

    /// Plays a live stream later if its audio comes after it was due. MPEG-TS gathers some 300 ms of audio before it is
    /// sent, behind the pictures of that time.
    private mutating func delayForAudio(at time: Duration, now: MonotonicInstant) {
        guard isLive, anchor != nil else { return }
        let late = place(now: now) - time
        let shift = min(late + Self.frameDuration, Self.liveDelays.upperBound - liveDelay)
        guard late > .zero, shift > .zero else { return }
        liveDelay += shift
        place = place(now: now) - shift
        anchor = (place, now)
    }

    /// The times of a live stream may begin anew. Media that wait with old times would then hold up all that follow.
    private mutating func followJump(to time: Duration, now: MonotonicInstant) {
        guard isLive, anchor != nil else { return }
        let distance = time - place(now: now)
        guard distance > Self.longestJump || distance < .zero - Self.longestJump else { return }
        pictures.removeAll()
        audio.removeAll()
        place = time - liveDelay
        anchor = (place, now)
    }

    /// The times of a film may jump as well: those of HLS do at an advertisement. Where all tracks have jumped, the
    /// film stands, and goes on at the new times. One track alone may have a gap, or be interleaved badly.
    private mutating func standAtJump(now: MonotonicInstant) {
        guard !isLive, anchor != nil else { return }
        let place = place(now: now)
        let (earliest, latest) = (place - Self.longestJump, place + Self.longestJump)
        if let last = [newest.picture, newest.audio].compactMap(\.self).max(), last < earliest {
            // The old times would keep the new ones from their turn.
            pictures.removeAll { $0.time > earliest }
            audio.removeAll { $0.time > earliest }
        } else {
            // Pictures without sound may be slides.
            guard let audioDue, audioDue > latest, !hasVideo || pictures.first.map({ $0.time > latest }) ?? false
            else { return }
        }
        self.place = place
        anchor = nil
    }

    /// The time of the newest packet of a live stream.
    mutating func newestCame(at time: Duration, now: MonotonicInstant) {
        guard isLive, anchor != nil, time - place(now: now) > Self.longestLiveDelay,
            time - place(now: now) <= Self.longestJump
        else { return }
        place = time - liveDelay
        anchor = (place, now)
    }

    // MARK: Out

    mutating func next(now: MonotonicInstant) -> Step {
        // Nobody sees what waits of a live stream that ended during its pause.
        if isLive, isEnded, settings.isPaused { return .end }
        standAtJump(now: now)
        if let step = startIfReady(now: now) { return step }
        let place = place(now: now)
        if let step = dueAudio(place: place) ?? duePicture(place: place, now: now) { return step }
        if let shown, let lastShown, now - lastShown >= Self.repeatsAfter, anchor != nil || settings.isPaused {
            self.lastShown = now
            return .show(shown)
        }
        let isEmpty = pictures.isEmpty && (isLive ? audio.isEmpty : !hasFrame)
        if isEmpty, isOver(at: place) { return .end }
        var wakeUp = (lastShown ?? now) + Self.repeatsAfter
        guard anchor != nil else { return .wait(until: max(wakeUp, now + Self.frameDuration)) }
        guard !isEmpty || isEnded else {
            // It stands until something comes.
            self.place = place
            anchor = nil
            return .wait(until: wakeUp)
        }
        let due = [pictures.first?.time, hasFrame ? audioDue : nil, isEmpty ? endOfPictures : nil]
        for time in due.compactMap(\.self) {
            wakeUp = min(wakeUp, now + max(time - place, .zero) / rate)
        }
        return .wait(until: wakeUp)
    }

    /// Lets the film go on when there is something to show again.
    private mutating func startIfReady(now: MonotonicInstant) -> Step? {
        guard anchor == nil else { return nil }
        let isReady = isEnded || !wantsMore || isLive
        let times = [pictures.first?.time, hasFrame ? audio.first?.time : nil]
        // The last picture may have to be seen for some time yet.
        let end = isEnded && !isLive ? place : nil
        guard isReady, let first = times.compactMap(\.self).min() ?? end else { return nil }
        if settings.isPaused {
            guard owesPicture, let picture = pictures.popFirst() else { return nil }
            return show(picture, now: now)
        }
        let start = target ?? first
        place = isLive ? start - liveDelay : max(start, place)
        if !isLive, target == nil, first > place || first < place - Self.longestJump { place = first }
        target = nil
        anchor = (place, now)
        return nil
    }

    private mutating func duePicture(place: Duration, now: MonotonicInstant) -> Step? {
        guard anchor != nil, let first = pictures.first, first.time <= place else { return nil }
        while pictures.count > 1, pictures[1].time <= place {
            pictures.removeFirst()
            framesDropped += 1
        }
        return pictures.popFirst().map { show($0, now: now) }
    }

    private mutating func show(_ picture: Picture, now: MonotonicInstant) -> Step {
        shown = picture.picture
        lastShown = now
        owesPicture = false
        framesShown += 1
        return .show(picture.picture)
    }

    private var audioDue: Duration? { audio.first.map { $0.time + Self.duration($0.used) } }

    private mutating func dueAudio(place: Duration) -> Step? {
        guard let anchor else { return nil }
        while let due = audioDue, due <= place {
            let isLate = place - due > Self.lateAudio
            guard let frame = takeFrame() else { return nil }
            if isLate || rate != 1 { continue }
            return .play(
                settings.volume == 1 ? frame : frame.map { min(max($0 * Float(settings.volume), -1), 1) },
                due: anchor.time + (due - anchor.place))
        }
        return nil
    }

    private mutating func takeFrame() -> [Float]? {
        guard hasFrame else { return nil }
        var frame: [Float] = []
        frame.reserveCapacity(Self.frameSize)
        while frame.count < Self.frameSize, let first = audio.first {
            let count = min(Self.frameSize - frame.count, first.samples.count - first.used)
            frame += first.samples[first.used..<first.used + count]
            if first.used + count == first.samples.count { audio.removeFirst() } else { audio[0].used += count }
        }
        frame += repeatElement(0, count: Self.frameSize - frame.count)
        return frame
    }
}
