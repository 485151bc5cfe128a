import RoomAPI

extension RoomEncoding {
    /// How many pictures and encoders a room has, and how few would do.
    struct LeastWork {
        /// Pictures that a shared view would save.
        var personalPictures = 0
        var encoders = 0
        /// As few as there are different pictures and formats at this moment.
        var keys = 0
        /// The same where everyone sees the same who may.
        var leastPictures = 0
        var leastEncoders = 0
    }

    func leastWork(of participants: [Participant]) -> LeastWork {
        var work = LeastWork(personalPictures: personalPictures(of: participants))
        work.encoders = groups.count(where: \.hasStarted)
        var keys: Set<StreamKey> = []
        var shared: Set<EncodeFormat> = []
        for participant in participants {
            guard let format = participant.downlink?.format else { continue }
            keys.insert(StreamKey(picture: participant.viewNumber, format: format))
            if participant.isSource, participant.selfView == .never, !participant.maySeeSelf {
                work.leastPictures += 1
                work.leastEncoders += 1
            } else {
                shared.insert(format)
            }
        }
        work.keys = keys.count
        work.leastPictures += shared.isEmpty ? 0 : 1
        work.leastEncoders += shared.count
        return work
    }

    /// Pictures that a shared view saves, or would save: those of participants who do not see themselves and may be
    /// made to. In a room of two each sees one source alone, which costs least as it is.
    func personalPictures(of participants: [Participant]) -> Int {
        let viewers = participants.count { participant in
            guard participant.downlink != nil, participant.isSource, participant.maySeeSelf,
                participant.forwarding.isComposed
            else { return false }
            return sharedViewIsForced || !showsSelf(participant)
        }
        return viewers > 2 ? viewers - 1 : 0
    }

    private struct StreamKey: Hashable {
        var picture: Int
        var format: EncodeFormat
    }
}
