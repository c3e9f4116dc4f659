/**
 * Returns the owner label of every container that is created here, so that two clusters on one Docker engine
 * do not touch each other's containers.
 */
export const ownerOf = (dataDir: string) => `minik8s:${dataDir}`;
