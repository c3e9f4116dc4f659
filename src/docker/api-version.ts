/** Versions of the engine's API, such as `1.41`, and the version that requests use. Pure. */

/** Fields of the engine's /version. */
export interface EngineVersions {
  readonly ApiVersion?: string | undefined;
  readonly MinAPIVersion?: string | undefined;
}

/**
 * API version of Docker 28.5, the newest engine that minik8s was tested with
 * (docs/decisions/0031-newer-docker-engines.md).
 */
const newestTested = '1.51';

/** API version of Docker 20.10, the oldest engine that minik8s works with. */
export const oldestApi = '1.41';

/** Returns true when `version` is `oldest` or newer. */
export function isAtLeast(version: string, oldest: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = oldest.split('.').map(Number);
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
}

/**
 * Returns the smaller of the engine's version and the newest tested one; for an engine that no longer serves
 * that one, its oldest. Undefined for an engine that reports no version: then requests contain none.
 */
export function requestVersion({ ApiVersion, MinAPIVersion }: EngineVersions): string | undefined {
  if (!isVersion(ApiVersion)) return undefined;
  const smaller = isAtLeast(ApiVersion, newestTested) ? newestTested : ApiVersion;
  return isVersion(MinAPIVersion) && !isAtLeast(smaller, MinAPIVersion) ? MinAPIVersion : smaller;
}

const isVersion = (text: string | undefined): text is string => /^\d{1,4}\.\d{1,4}$/.test(text ?? '');
