import Conference
import Dispatch
import MediaCore
import NIOCore

extension ClientSession {
    func handle(_ event: PeerEvent, now: MonotonicInstant) {
        switch event {
        case .videoFrame(let frame): received(frame, now: now)
        case .audioPacket(let packet): received(packet)
        case .keyFrameRequested: isKeyFrameWanted = true
        case .videoBitRateChanged(let rate): videoBitRate = rate.target
        case .audioBitRateChanged(let rate): audioBitRate = rate
        case .videoEnded, .connectionStateChanged: break
        case .goodbye: end(.relayLeft(reason: "the relay said goodbye"))
        }
    }

    private func received(_ frame: ReceivedVideoFrame, now: MonotonicInstant) {
        measurements.received(frame.sample, now: now)
        if let recorder {
            recorder.queue.async { recorder.append(frame.sample, arrival: frame.firstArrival) }
        }
        guard let videoReceiver else { return }
        guard decodeBacklog < Self.maximumDecodeBacklog else {
            measurements.framesNotDecoded += 1
            peer.requestKeyFrame(now: now)
            return
        }
        decodeBacklog += 1
        videoReceiver.queue.async { [self] in
            let output = videoReceiver.decode(frame.sample)
            eventLoop.execute { [self] in decoded(output) }
        }
    }

    private func decoded(_ output: VideoReceivePipeline.Output) {
        decodeBacklog -= 1
        guard !isClosed else { return }
        measurements.decoded(output)
        guard output.needsKeyFrame else { return }
        let now = ClientClock.now()
        peer.requestKeyFrame(now: now)
        pump(now: now)
    }

    private func received(_ packet: ReceivedAudioPacket) {
        measurements.receivedAudio(size: DataSize(bytes: packet.payload.readableBytes))
        guard let recorder else { return }
        recorder.queue.async {
            recorder.append(
                opus: packet.payload, rtpTimestamp: packet.rtpTimestamp, sequence: packet.sequence,
                arrival: packet.arrival)
        }
    }
}
