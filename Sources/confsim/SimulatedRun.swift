import NetworkSimulation

/// One simulated flow and the link that it took.
struct SimulatedRun {
    var name: String
    var link: LinkProfile
    var report: MediaFlowReport
}
