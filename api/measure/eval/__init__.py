"""Quality on data: retrieval, calibration, abstention, support, routing, place linking; one report."""
