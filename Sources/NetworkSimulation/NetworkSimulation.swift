// NetworkSimulation
