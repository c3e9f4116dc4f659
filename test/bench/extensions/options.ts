import type { Server } from '../api/servers.ts';

export interface ExtensionOptions {
  /** How often each line is measured at each server. */
  readonly rounds: number;
  /** Milliseconds of one line. */
  readonly ms: number;
  /** Number of large definitions. */
  readonly definitions: number;
  /** Runs the servers to compare for the duration of a measurement; minik8s is the first. */
  readonly withServers: <T>(measure: (servers: readonly Server[]) => Promise<T>) => Promise<T>;
}
