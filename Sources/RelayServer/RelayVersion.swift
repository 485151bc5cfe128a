/// The version of the relay.
public enum RelayVersion {
    public static let current = "0.1"
}
