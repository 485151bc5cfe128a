public import LoadControl

/// News of overload control, each reported once.
public enum OverloadEvent: Sendable {
    case calibrated(Calibration, SeatModel)
    case levelChanged(OverloadChange)
    /// An encoder of a room failed. At most one a second is reported.
    case encoderFailed(EncoderFailure, room: String)
}
