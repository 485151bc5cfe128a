import EncoderSharing
import LoadControl
import MediaCore
import RoomAPI

/// The number of a room's pictures and encoders, and the smallest possible numbers.
struct LeastWork {
    /// Pictures that a shared view would save.
    var personalPictures = 0
    var encoders = 0
    /// The number of different pictures and formats at this moment, which is the least number of encoders.
    var keys = 0
    /// The number of pictures if all participants that may do so see the same.
    var leastPictures = 0
    var leastEncoders = 0
}

extension Room {
    /// - Parameter participants: The participants that count.
    func leastWork(of participants: some Sequence<Participant>) -> LeastWork {
        var work = LeastWork(personalPictures: personalPictures(of: participants))
        work.encoders = encoders.groups.count(where: \.hasStarted)
        var keys: Set<StreamKey> = []
        var shared: Set<EncodeFormat> = []
        for participant in participants {
            guard let format = encoders.downlink(of: participant.id)?.format else { continue }
            keys.insert(StreamKey(picture: composition.view(of: participant.id)?.number ?? 0, format: format))
            if participant.isSource, participant.selfView == .never, !participant.maySeeSelf {
                work.leastPictures += 1
                work.leastEncoders += 1
            } else {
                shared.insert(format)
            }
        }
        for composite in composites {
            let view = composition.view(of: composite.receiver)?.number ?? 0
            keys.insert(StreamKey(picture: view, format: composite.format))
        }
        work.keys = keys.count
        work.leastPictures += (shared.isEmpty ? 0 : 1) + composites.count
        work.leastEncoders += shared.count + composites.count
        return work
    }

    /// The number of pictures that a shared view saves, or would save: those of participants that do not see themselves
    /// but may. In a room of two each sees one source alone, which is the cheapest already.
    private func personalPictures(of participants: some Sequence<Participant>) -> Int {
        max(0, personalViewers(among: participants).count - 1)
    }

    /// The members with a picture of their own that can change to the shared one, and the members that have changed.
    private func personalViewers(among participants: some Sequence<Participant>) -> [ParticipantID] {
        let viewers: [ParticipantID] = participants.compactMap { participant in
            guard encoders.isReceiver(participant.id), participant.isSource, participant.maySeeSelf,
                forwarding.isComposed(participant.id),
                sharingMembers.contains(participant.id) || !showsSelf(participant)
            else { return nil }
            return participant.id
        }
        return viewers.count > 2 ? viewers : []
    }

    /// True if a member's own tiles are in its picture.
    func showsSelf(_ participant: Participant) -> Bool {
        sharingMembers.contains(participant.id) || composition.showsSelf(participant.selfView)
    }

    /// Decides whether participants without a choice of their own see themselves.
    func chooseView(now: MonotonicInstant) {
        var (personal, hasOthers) = (0, false)
        // A join that has not connected proves nothing about its client, and needs no picture.
        let receivers = participants.filter { encoders.isReceiver($0.id) && $0.mayBeSentPictures }
        for participant in receivers {
            if participant.isSource, participant.selfView == .auto { personal += 1 } else { hasOthers = true }
        }
        let limits = overload.limits
        // Two people see one source each, which is forwarded if possible: one picture of both saves nothing.
        let pictures = personal > 2 ? personal + (hasOthers ? 1 : 0) : 1
        let viewers = limits.personalViews == nil ? [] : personalViewers(among: receivers)
        composition.chooseView(
            pictures: pictures, encoders: encoders.budget(limits),
            isForced: limits.personalViews == 0 && !viewers.isEmpty, now: now)
        // The member that has been here longest keeps a picture of its own.
        let sharing = Set(viewers.dropFirst(limits.personalViews ?? 0))
        guard sharing != sharingMembers else { return }
        sharingMembers = sharing
        composition.viewsChanged()
    }
}

private struct StreamKey: Hashable {
    var picture: Int
    var format: EncodeFormat
}
