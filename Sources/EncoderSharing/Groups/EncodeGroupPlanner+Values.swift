package import MediaCore

extension EncodeGroupPlanner {
    /// A receiver at this moment.
    package struct Receiver: Sendable {
        package var id: ParticipantID
        /// Receivers with the same number see the same. The numbers mean nothing beyond this moment.
        package var picture: Int
        /// A number that is equal for receivers that can share an encoder. It stays the same.
        package var format: Int
        /// The rate that the receiver's network carries.
        package var target: BitRate
        /// True if the receiver requests more keyframes than others should pay for.
        package var wantsIsolation = false

        package init(id: ParticipantID, picture: Int, format: Int, target: BitRate, wantsIsolation: Bool = false) {
            self.id = id
            self.picture = picture
            self.format = format
            self.target = target
            self.wantsIsolation = wantsIsolation
        }

        /// Returns true if everything but the rate is the same.
        package func isLike(_ other: Receiver) -> Bool {
            id == other.id && picture == other.picture && format == other.format
                && wantsIsolation == other.wantsIsolation
        }
    }

    /// Receivers that share an encoder.
    package struct Group: Sendable {
        package var id: EncodeGroupID
        package var format: Int
        package var members: [ParticipantID]
        package var rate: BitRate
        /// True if the rate stays until the next review.
        package var isRateKept = false
    }

    /// The reason for which a receiver is in its group.
    package enum Reason: Sendable {
        /// There are encoders for everybody.
        case dedicated
        /// The receiver came, or its view changed, and it lost least in this group.
        case placed
        /// Its network carried much less than its group's rate.
        case fell
        /// Encoders are assigned so that all receivers together lose least.
        case reviewed
        /// The receiver requested too many keyframes.
        case isolated
    }
}
