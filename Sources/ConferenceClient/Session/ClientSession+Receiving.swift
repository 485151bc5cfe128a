import CongestionControl
import Dispatch
import MediaCore
import NIOCore
import PeerConnection

extension ClientSession {
    /// The time for which an event may follow the end of the connection that it explains: both come at about the same
    /// time.
    private static let eventGrace = TimeAmount.milliseconds(300)

    func handle(_ event: PeerEvent, now: MonotonicInstant) {
        switch event {
        case .videoFrame(let frame): received(frame, now: now)
        case .audioPacket(let packet): received(packet)
        case .keyframeRequested, .pictureLost: isKeyframeWanted = true
        case .videoBitRateChanged(let rate): videoBitRate = rate.target
        case .audioBitRateChanged(let rate): audioBitRate = rate
        case .videoEnded, .videoPacket, .pictureAcknowledged: break
        case .connectionStateChanged(let state): connectionChanged(to: state, now: now)
        case .goodbye:
            relayLeft(
                measurements.isUnserved(now: now)
                    ? "the relay ended the connection before any media came: the room may be full by now"
                    : "the relay said goodbye")
        }
    }

    private func connectionChanged(to state: ConnectionState, now: MonotonicInstant) {
        switch state {
        case .new, .reconnecting: break
        case .connected: measurements.connected = measurements.connected ?? now
        case .failed:
            let reason =
                measurements.connected == nil
                ? "no connection to the relay: its UDP port cannot be reached, or the DTLS handshake failed"
                : "the relay did not answer for 30 s"
            relayLeft(reason)
        }
    }

    /// Ends the session, but not before an event had the time to say that a moderator ended it.
    private func relayLeft(_ reason: String) {
        guard followsRoom else { return end(.relayLeft(reason: reason)) }
        eventLoop.scheduleTask(in: Self.eventGrace) { [weak self] in self?.end(.relayLeft(reason: reason)) }
    }

    private func received(_ frame: ReceivedVideoFrame, now: MonotonicInstant) {
        measurements.received(frame, now: now)
        watch?.completed(frame.sample, lastArrival: frame.lastArrival)
        if let recorder {
            recorder.queue.async {
                recorder.append(frame.sample, arrival: frame.firstArrival, senderTime: frame.senderTime)
            }
        }
        guard let videoReceiver else { return }
        guard decodeBacklog < Self.maximumDecodeBacklog else {
            measurements.framesNotDecoded += 1
            peer.requestKeyframe(now: now)
            return
        }
        decodeBacklog += 1
        videoReceiver.queue.async { [self] in
            let output = videoReceiver.decode(frame.sample, isShown: !frame.isRecovering)
            eventLoop.execute { [self] in decoded(output) }
        }
    }

    private func decoded(_ output: VideoReceivePipeline.Output) {
        decodeBacklog -= 1
        guard !isClosed else { return }
        let now = ClientClock.now()
        measurements.decoded(output, now: now)
        guard output.needsKeyframe else { return }
        peer.requestKeyframe(now: now)
        pump(now: now)
    }

    private func received(_ packet: ReceivedAudioPacket) {
        measurements.receivedAudio(size: DataSize(bytes: packet.payload.readableBytes))
        guard let recorder else { return }
        recorder.queue.async {
            recorder.append(
                opus: packet.payload, rtpTimestamp: packet.rtpTimestamp, sequence: packet.sequence,
                arrival: packet.arrival, senderTime: packet.senderTime)
        }
    }
}
