"""Ranking of what the channels found: fusion, folding of equal passages, reranking, calibration."""
