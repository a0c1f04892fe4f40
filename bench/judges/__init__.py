"""Programs of others that judge what Crosswind does to a network: CometBFT and etcd."""
