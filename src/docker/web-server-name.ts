/** Name of the container of a node's web server. Pure. */
import { createHash } from 'node:crypto';

export const webServerPrefix = 'minik8s-routing-';

/** Returns the name, which includes a hash, since two clusters may share a Docker engine. */
export const webServerName = (dataDir: string): string =>
  `${webServerPrefix}${createHash('sha256').update(dataDir).digest('hex').slice(0, 8)}`;
