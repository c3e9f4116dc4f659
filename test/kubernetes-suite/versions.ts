/** Versions of Kubernetes whose suite can be run. Pure. */

/** Version of the suite unless another one is asked for. Not every version has its modules in the proxy. */
export const suiteVersion = '1.32.5';

/** The only version whose results lie in dist/conformance itself: they are older than `--version`. */
const firstVersion = '1.32.5';

const versionForm = /^1\.(\d+)\.\d+$/;

/** Returns whether the text is a release of Kubernetes such as `1.37.2`. */
export const isVersion = (text: string): boolean => versionForm.test(text);

/**
 * Returns the flags for Go's linker: no symbols, and the version that the program reports. Throws if the
 * version has another form.
 */
export function linkerFlags(version: string): string {
  const minor = versionForm.exec(version)?.[1];
  if (minor === undefined) throw new Error(`a version of Kubernetes is written like 1.37.2, not ${version}`);
  const variables = { gitVersion: `v${version}`, gitMajor: '1', gitMinor: minor };
  const values = Object.entries(variables).map(
    ([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`,
  );
  return ['-s -w', ...values].join(' ');
}

/** Returns the folder of a version's results in dist/conformance; empty for the first version. */
export const resultsFolder = (version: string): string => (version === firstVersion ? '' : version);

/** Returns the versions with results, the newest first; `folders` are the names in dist/conformance. */
export function versionsIn(folders: readonly string[]): string[] {
  const versions = [firstVersion, ...folders.filter((name) => isVersion(name) && name !== firstVersion)];
  const place = (version: string) => version.split('.').map(Number);
  return versions.sort((one, other) => {
    const [, minor = 0, patch = 0] = place(one);
    const [, otherMinor = 0, otherPatch = 0] = place(other);
    return otherMinor - minor || otherPatch - patch;
  });
}
