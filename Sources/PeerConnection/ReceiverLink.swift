package import CongestionControl
package import MediaCore

/// How the link to a remote endpoint is at one moment, for those who decide what is sent there.
package struct ReceiverLink: Sendable {
    /// Whether there is where to send video.
    package var canSendVideo: Bool
    /// Whether a video frame should be encoded now.
    package var hasRoom: Bool
    /// Whether the path carries too little for video, so that audio alone is sent.
    package var isVideoPaused: Bool
    /// Whether the remote side tells which pictures it has, and goes on with those that refer to them alone.
    package var acknowledgesPictures: Bool
    private var queue: LinkQueue
    /// How long the oldest packet has waited at the sender.
    private var waiting: Duration
    private let time: MonotonicInstant

    package init(
        canSendVideo: Bool, hasRoom: Bool, isVideoPaused: Bool = false, acknowledgesPictures: Bool = false,
        queue: LinkQueue = LinkQueue(), waiting: Duration = .zero, at time: MonotonicInstant
    ) {
        self.canSendVideo = canSendVideo
        self.hasRoom = hasRoom
        self.isVideoPaused = isVideoPaused
        self.acknowledgesPictures = acknowledgesPictures
        self.queue = queue
        self.waiting = waiting
        self.time = time
    }

    /// How long the link has to do, and with so much more.
    package func backlog(adding size: DataSize = .zero) -> LinkBacklog {
        queue.backlog(adding: size, waiting: waiting, now: time)
    }
}

extension PeerConnection {
    /// How the link to the remote side is now.
    package func link(now: MonotonicInstant) -> ReceiverLink {
        ReceiverLink(
            canSendVideo: canSendVideo, hasRoom: hasRoomForVideo(now: now), isVideoPaused: isVideoPaused,
            acknowledgesPictures: acknowledgesPictures, queue: sending.queue, waiting: sending.queueDelay(now: now),
            at: now)
    }
}
