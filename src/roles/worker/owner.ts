/** Written on every container made here, so that two clusters on one Docker engine keep out of each other's way. */
export const ownerOf = (dataDir: string) => `minik8s:${dataDir}`;
