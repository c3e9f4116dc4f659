/**
 * 64-bit integers in labels and annotations, which travel as text: a JavaScript number keeps only 53 bits.
 */

const highest = 2n ** 63n - 1n;

/**
 * Parses a decimal as Go's strconv.ParseInt does; returns undefined for other texts and for numbers beyond 64
 * bits.
 */
export function parseInt64(text: string | undefined): bigint | undefined {
  if (text === undefined || !/^[+-]?\d{1,100}$/.test(text)) return undefined;
  const value = BigInt(text.replace('+', ''));
  return value > highest || value < -highest - 1n ? undefined : value;
}
