public import LoadControl

/// What overload control has to tell, once.
public enum OverloadEvent: Sendable {
    case calibrated(Calibration, SeatModel)
    case levelChanged(OverloadChange)
    /// An encoder of a room failed. No more than one a second is told.
    case encoderFailed(EncoderFailure, room: String)
}
