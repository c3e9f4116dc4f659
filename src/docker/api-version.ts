/** Versions of the engine's API, `1.41` in text: which one requests name. Pure. */

/** What the engine says of itself at /version. */
export interface EngineVersions {
  readonly ApiVersion?: string | undefined;
  readonly MinAPIVersion?: string | undefined;
}

/** Docker 28.5, the newest engine that minik8s was tested with (docs/decisions/0031-newer-docker-engines.md). */
const newestTested = '1.51';

/** Whether `version` is `oldest` or a newer one. */
export function isAtLeast(version: string, oldest: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = oldest.split('.').map(Number);
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
}

/**
 * The smaller of the engine's own and the newest tested; of an engine that has stopped serving that one, its oldest. Undefined
 * for an engine that names no version: requests name none then.
 */
export function requestVersion({ ApiVersion, MinAPIVersion }: EngineVersions): string | undefined {
  if (!isVersion(ApiVersion)) return undefined;
  const smaller = isAtLeast(ApiVersion, newestTested) ? newestTested : ApiVersion;
  return isVersion(MinAPIVersion) && !isAtLeast(smaller, MinAPIVersion) ? MinAPIVersion : smaller;
}

const isVersion = (text: string | undefined): text is string => /^\d{1,4}\.\d{1,4}$/.test(text ?? '');
