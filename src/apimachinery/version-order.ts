/** Order of the versions of a group (upstream: version.CompareKubeAwareVersionStrings). Pure. */
const levels = ['alpha', 'beta', ''];

interface Parsed {
  readonly level: number;
  readonly major: number;
  readonly minor: number;
}

function parse(version: string): Parsed | undefined {
  const [, major, level = '', minor = '0'] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version) ?? [];
  return major === undefined
    ? undefined
    : { level: levels.indexOf(level), major: Number(major), minor: Number(minor) };
}

/**
 * Compares two versions for a sort with the preferred one first: v2, v1, v2beta1, v1beta2, v1alpha1, and then
 * other names in alphabetical order.
 */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [parse(a), parse(b)];
  if (!left && !right) return a < b ? -1 : Number(a > b);
  if (!left || !right) return left ? -1 : 1;
  return right.level - left.level || right.major - left.major || right.minor - left.minor;
}
