import AudioMixing
import Compositing
import CongestionControl
import EncoderSharing
import MediaCore
import PeerConnection
import SDP

extension Room {
    /// Writes a video tick into the timeline, with the progress of every source and encoder since the last one.
    func observeTick(_ tick: TickSchedule.Tick, now: MonotonicInstant) {
        timeline.tick(index: tick.index, leftOut: tick.leftOut, missedTicks: composition.missedTicks, now: now)
        for participant in participants {
            for content in SourceContent.allCases {
                let source = SourceID(participant: participant.id, content: content)
                guard let reading = participant.reading(of: content, lastFrame: forwarding.lastFrame(of: source))
                else { continue }
                timeline.observe(reading, of: source, now: now) { (participant.publicID, participant.name) }
            }
        }
        for group in encoders.groups {
            guard let row = timeline.encoder(group.queue, now: now) else { continue }
            for participant in group.subscribers.members.compactMap(participant) {
                row.observe(
                    participant.id, requests: participant.peer.videoTotals(.main).keyframeRequestsReceived,
                    layerDrops: encoders.downlink(of: participant.id)?.framesLayerDropped ?? 0,
                    isWaitingForNetwork: !participant.peer.hasRoomForVideo(now: now), now: now
                ) { (participant.publicID, participant.name) }
            }
            row.observe(group.reading, now: now)
        }
    }

    /// Writes an audio tick into the timeline.
    func observe(_ tick: MixedTick) {
        timeline.mixed(tick.output, now: tick.captureTime)
        observe(tick.output.sources, mixes: tick.output.packets, now: tick.captureTime)
    }

    /// Writes the sources' audio and the receivers' mixes into the timeline.
    func observe(
        _ sources: [ParticipantID: AudioSourceReport], mixes: [ParticipantID: EncodedAudio] = [:], now: MonotonicInstant
    ) {
        for participant in participants {
            timeline.observe(sources[participant.id], mix: mixes[participant.id], of: participant.id, now: now) {
                (participant.publicID, participant.name)
            }
        }
    }
}

extension Participant {
    /// A source's counters; nil if the participant has no such source.
    ///
    /// - Parameter lastFrame: The arrival of the source's newest frame.
    fileprivate func reading(of content: SourceContent, lastFrame: MonotonicInstant?) -> SourceReading? {
        let isSent = content == .camera ? sendsVideo : sendsScreenShare
        let pipeline = pipeline(for: content)
        // A camera that was never there has no row; one that was keeps it.
        guard isSent || pipeline != nil else { return nil }
        var reading = SourceReading()
        let totals = peer.videoTotals(stream(of: content))
        reading.framesArrived = totals.framesReceived
        reading.framesWithheld = totals.framesWithheld
        reading.packetsLost = UInt64(clamping: totals.packetsLost)
        reading.keyframes = totals.keyframesReceived
        reading.keyframeRequests = totals.keyframeRequestsSent
        if let pipeline {
            reading.framesDecoded = pipeline.framesDecoded
            reading.framesDropped = pipeline.framesDropped
            reading.framesSkipped = pipeline.framesSkipped
            reading.skipMode = pipeline.skipMode
            reading.isPicturePaused = pipeline.isPicturePaused
            // A source that is forwarded without decoding plays all the same.
            reading.pictureTime = pipeline.isPaused ? lastFrame : pipeline.newestTime
            reading.dimensions = pipeline.newest.map { pipeline.rotation.upright($0.dimensions) }
        }
        reading.isOn = isSent && (content == .screenShare || cameraIsOn)
        reading.mayStandStill = content == .screenShare
        return reading
    }
}

extension EncodeGroup {
    fileprivate var reading: EncoderReading {
        EncoderReading(
            targetBitRate: bitRate.sustained, dimensions: rung.dimensions, maximumFrameRate: rung.frameRate,
            framesEncoded: framesEncoded, framesLeftOut: framesLeftOut, keyframes: keyframesEncoded)
    }
}

extension CompositionWork {
    init(_ tick: ComposedTick) {
        self.init(captureTime: tick.captureTime)
        for origin in tick.origins {
            switch origin {
            case .rendered: rendered += 1
            case .reused: reused += 1
            case .passthrough: passedThrough += 1
            case .fallback: fellBack += 1
            }
        }
    }
}
