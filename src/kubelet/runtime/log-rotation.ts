/** The amount of a container's log that is kept. Pure. */

/**
 * When a file of the log reaches `maxBytes`, the next one begins; when there are more than `maxFiles`, the
 * oldest is removed.
 */
export interface LogRotation {
  readonly maxBytes: number;
  readonly maxFiles: number;
}

/** Kubernetes' defaults (kubelet's containerLogMaxSize and containerLogMaxFiles). */
export const defaultLogRotation: LogRotation = { maxBytes: 10 * 2 ** 20, maxFiles: 5 };

/**
 * Returns the size in bytes at which the engine rotates a file of a container's log, from the container's own
 * configuration; Infinity when it never does. Returns undefined when the files cannot be followed: another
 * driver writes them, they are compressed, or there is a single one that is emptied when it is full.
 */
export function followableSize({ Type, Config }: EngineLogConfig): number | undefined {
  if (Type !== 'json-file') return undefined;
  const { 'max-size': size, 'max-file': files = '1', compress } = Config ?? {};
  if (size === undefined) return Number.POSITIVE_INFINITY;
  return /^\d+$/.test(size) && Number(files) > 1 && compress !== 'true' ? Number(size) : undefined;
}

export interface EngineLogConfig {
  readonly Type: string;
  readonly Config?: Readonly<Record<string, string>> | null;
}

/**
 * Returns the log configuration for the engine, which rotates the files by itself. The size is in plain
 * bytes, because the engine's "10m" would be ten million bytes.
 */
export const engineLogConfig = ({ maxBytes, maxFiles }: LogRotation) => ({
  Type: 'json-file',
  Config: { 'max-size': String(maxBytes), 'max-file': String(maxFiles) },
});
