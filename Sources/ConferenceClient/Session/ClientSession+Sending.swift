import Dispatch
import MediaCore
import NIOCore
import PeerConnection
import VideoCoding

extension ClientSession {
    /// A client that has fallen behind by more does not catch up: perhaps the machine is too slow for its file.
    private static let longestLateness = Duration.seconds(1)
    /// The most packets that the source of the audio is moved on by: a minute.
    private static let mostMissedPackets: Int64 = 3000

    /// Sets a timer for the video frame that is due at `due`.
    func scheduleVideo(at due: MonotonicInstant) {
        eventLoop.scheduleTask(deadline: due.deadline) { [weak self] in self?.produceVideo(due: due) }
    }

    private func produceVideo(due: MonotonicInstant) {
        guard !isClosed, let videoSender else { return }
        let now = ClientClock.now()
        let hasRoom = peer.hasRoomForVideo(now: now)
        let request = VideoSendPipeline.Request(
            wallClockMilliseconds: ClientClock.wallClockMilliseconds(), bitRate: videoBitRate,
            isKeyframeWanted: isKeyframeWanted && hasRoom, hasRoom: hasRoom, lateness: max(now - due, .zero),
            tile: tile)
        if request.isKeyframeWanted { isKeyframeWanted = false }
        let produce = { @Sendable in Result { () throws(ClientError) in try videoSender.produce(request) } }
        guard !videoSender.isImmediate else { return videoProduced(produce(), due: due, capture: now) }
        videoSender.queue.async { [self] in
            let result = produce()
            eventLoop.execute { [self] in videoProduced(result, due: due, capture: now) }
        }
    }

    private func videoProduced(
        _ result: Result<VideoSendPipeline.Output, ClientError>, due: MonotonicInstant, capture: MonotonicInstant
    ) {
        guard !isClosed else { return }
        let output: VideoSendPipeline.Output
        switch result {
        case .success(let value): output = value
        case .failure(let error):
            end(.failed(error))
            return
        }
        let now = ClientClock.now()
        let due = due + output.missed.duration
        // Audio counts from when it was due, too.
        let capture = output.keepsTime ? due : capture
        measurements.skippedFrames += output.missed.count
        if let frame = output.frame {
            measurements.sent(
                size: frame.size, isKeyframe: frame.isKeyframe, dimensions: frame.sample.format.dimensions)
            peer.sendVideo(frame, captureTime: capture, targetTime: capture, now: now)
            if let timestamp = peer.latestVideoTimestamp { watch?.queued(frame.sample, timestamp: timestamp) }
        } else {
            measurements.skippedFrames += 1
        }
        // Frames keep their cadence; a client that fell behind by more than a frame begins a new one. Not so with a
        // file: its pictures would come ever later than its audio.
        var next = due + output.duration
        let patience = output.keepsTime ? max(output.duration, Self.longestLateness) : output.duration
        if now - next > patience { next = now }
        scheduleVideo(at: next)
        pump(now: now)
    }

    /// Sets a timer for the 20 ms of audio that are due at `due`.
    func scheduleAudio(at due: MonotonicInstant) {
        eventLoop.scheduleTask(deadline: due.deadline) { [weak self] in self?.produceAudio(due: due) }
    }

    private func produceAudio(due: MonotonicInstant) {
        guard !isClosed, let audioSender else { return }
        let (bitRate, missed) = (audioBitRate, missedAudioPackets)
        (audioBitRate, missedAudioPackets) = (nil, 0)
        let produce = { @Sendable in
            Result { () throws(ClientError) in try audioSender.produce(bitRate: bitRate, leavingOut: missed) }
        }
        guard !audioSender.isImmediate else { return audioProduced(produce(), due: due) }
        audioSender.queue.async { [self] in
            let result = produce()
            eventLoop.execute { [self] in audioProduced(result, due: due) }
        }
    }

    private func audioProduced(_ result: Result<OutgoingAudio, ClientError>, due: MonotonicInstant) {
        guard !isClosed else { return }
        let packet: OutgoingAudio
        switch result {
        case .success(let value): packet = value
        case .failure(let error):
            end(.failed(error))
            return
        }
        let now = ClientClock.now()
        measurements.sentAudio(size: DataSize(bytes: packet.payload.readableBytes))
        peer.sendAudio(
            packet.payload, sampleTime: audioSampleTime, level: packet.level, captureTime: due, now: now)
        audioSampleTime &+= UInt32(PCM.frameSize)
        var next = due + PCM.frameDuration
        if now - next > .milliseconds(200) {
            // If audio is late by this much, it is left out, and its timestamps jump.
            let missed = (now - next).nanoseconds / PCM.frameDuration.nanoseconds
            audioSampleTime &+= UInt32(truncatingIfNeeded: missed) &* UInt32(PCM.frameSize)
            next += PCM.frameDuration * Int(missed)
            missedAudioPackets = Int(min(missed, Self.mostMissedPackets))
        }
        scheduleAudio(at: next)
        pump(now: now)
    }
}
