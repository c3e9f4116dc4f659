/** How much of a container's log is kept. Pure. */

/** Once a file of the log has `maxBytes` the next one begins; the oldest of more than `maxFiles` is removed. */
export interface LogRotation {
  readonly maxBytes: number;
  readonly maxFiles: number;
}

/** Kubernetes' own (kubelet's containerLogMaxSize and containerLogMaxFiles). */
export const defaultLogRotation: LogRotation = { maxBytes: 10 * 2 ** 20, maxFiles: 5 };

/** For the engine, which rotates by itself. Its "10m" would be ten million bytes. */
export const engineLogConfig = ({ maxBytes, maxFiles }: LogRotation) => ({
  Type: 'json-file',
  Config: { 'max-size': String(maxBytes), 'max-file': String(maxFiles) },
});
