/** Returns true if `a` is older than `b` or equal to it; false if one of them is not a decimal number. */
export function notAfter(a: string | undefined, b: string | undefined): boolean {
  if (!isDecimal(a) || !isDecimal(b)) return false;
  return a.length < b.length || (a.length === b.length && a <= b);
}

/**
 * Versions are decimal without leading zeros, so comparing length and then text gives the order at any size.
 */
const isDecimal = (version: string | undefined): version is string => !!version && /^[1-9]\d*$/.test(version);
