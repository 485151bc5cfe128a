package import CongestionControl
package import MediaCore

/// The state of the link to a remote endpoint at one moment, for decisions on sending.
package struct ReceiverLink: Sendable {
    /// True if there is an address for video.
    package var canSendVideo: Bool
    /// True if a video frame should be encoded now.
    package var hasRoom: Bool
    /// True if the remote side acknowledges pictures, and continues with pictures that refer only to acknowledged ones.
    package var acknowledgesPictures: Bool
    private var queue: LinkQueue
    /// The wait of the oldest packet at the sender.
    private var waiting: Duration
    private let time: MonotonicInstant

    package init(
        canSendVideo: Bool, hasRoom: Bool, acknowledgesPictures: Bool = false,
        queue: LinkQueue = LinkQueue(), waiting: Duration = .zero, at time: MonotonicInstant
    ) {
        self.canSendVideo = canSendVideo
        self.hasRoom = hasRoom
        self.acknowledgesPictures = acknowledgesPictures
        self.queue = queue
        self.waiting = waiting
        self.time = time
    }

    /// Returns the backlog of the link, with additional data.
    package func backlog(adding size: DataSize = .zero) -> LinkBacklog {
        queue.backlog(adding: size, waiting: waiting, now: time)
    }
}

extension PeerConnection {
    /// Returns the present state of the link to the remote side.
    package func link(now: MonotonicInstant) -> ReceiverLink {
        ReceiverLink(
            canSendVideo: canSendVideo, hasRoom: hasRoomForVideo(now: now),
            acknowledgesPictures: acknowledgesPictures, queue: sending.queue, waiting: sending.queueDelay(now: now),
            at: now)
    }
}
