/** Whole numbers of 64 bits that travel as text, in labels and annotations: a JavaScript number keeps only 53 of them. */

const highest = 2n ** 63n - 1n;

/** As Go's strconv.ParseInt reads decimals; undefined for anything else, and beyond 64 bits. */
export function parseInt64(text: string | undefined): bigint | undefined {
  if (text === undefined || !/^[+-]?\d{1,100}$/.test(text)) return undefined;
  const value = BigInt(text.replace('+', ''));
  return value > highest || value < -highest - 1n ? undefined : value;
}
