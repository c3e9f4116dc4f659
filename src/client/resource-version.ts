/** Whether `a` came before or is the same as `b`; versions that are not decimal numbers cannot be told apart. */
export function notAfter(a: string | undefined, b: string | undefined): boolean {
  if (!isDecimal(a) || !isDecimal(b)) return false;
  return a.length < b.length || (a.length === b.length && a <= b);
}

/** The server counts in decimal without leading zeros, so length and then text give the order at any size. */
const isDecimal = (version: string | undefined): version is string => !!version && /^[1-9]\d*$/.test(version);
