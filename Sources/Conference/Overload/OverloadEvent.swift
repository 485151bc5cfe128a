public import LoadControl

/// News of overload control, each told once.
public enum OverloadEvent: Sendable {
    case calibrated(Calibration, SeatModel)
    case levelChanged(OverloadChange)
    /// An encoder of a room failed. No more than one a second is told.
    case encoderFailed(EncoderFailure, room: String)
}
