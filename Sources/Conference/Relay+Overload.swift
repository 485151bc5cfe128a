public import LoadControl
public import MediaCore

extension Relay {
    /// Sets the measured capacity of the machine for the relay's work.
    public func adopt(_ calibration: Calibration, now: MonotonicInstant) { overload.adopt(calibration, now: now) }

    /// The next thing that overload control has to tell, if any.
    public func pollOverloadEvent() -> OverloadEvent? { overload.pollEvent() }

    /// Runs overload control with the load of the rooms.
    func govern(now: MonotonicInstant) {
        guard overload.isDue(now: now) else { return }
        var load = OverloadControl.Load()
        load.situation.preset = configuration.encoderPreset
        load.situation.frameRate = configuration.frameRate
        load.situation.isEmpty = participants.isEmpty
        for room in rooms.values { room.add(to: &load) }
        let isChanged = overload.update(load, now: now)
        decoding.isShortOfTime = overload.isShortOfTime
        guard isChanged else { return }
        for room in rooms.values { room.composition.viewsChanged() }
    }
}

extension Room {
    /// Adds the work of this room. Participants without a seat do not count: most of them never connect. Members at
    /// other relays are sources here, too.
    fileprivate func add(to load: inout OverloadControl.Load) {
        let participants = participants.filter { $0.isSeated || $0.remote != nil }
        let receivers = participants.count { encoders.isReceiver($0.id) }
        let work = leastWork(of: participants)
        load.rooms.append(
            SeatModel.Work(
                sources: participants.count { $0.isSource }, receivers: receivers, pictures: work.leastPictures,
                encoders: work.leastEncoders))
        load.situation.personalPictures = max(load.situation.personalPictures, work.personalPictures)
        if work.encoders > load.situation.encoders {
            load.situation.encoders = work.encoders
            load.situation.leastEncoders = work.keys
        }
        let wanted = receivers + composites.count
        let budget = configuration.maximumEncoders.map { min($0, wanted) } ?? wanted
        load.situation.encoderBudget = max(load.situation.encoderBudget, budget)
    }
}
