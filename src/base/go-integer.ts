/** Whole numbers as Go's strconv.ParseInt reads them in flags: the prefix chooses the base. Pure. */

const digitsOf = { 2: '[01]', 8: '[0-7]', 10: '[0-9]', 16: '[0-9a-f]' } as const;

/** Returns a pattern of digits between which single underscores may stand; `first` is in front of them. */
const form = (base: keyof typeof digitsOf, first: string) =>
  ({ base, pattern: new RegExp(`^${first}(${digitsOf[base]}+(?:_${digitsOf[base]}+)*)$`, 'i') }) as const;

/** Forms of a number without its sign; an underscore may follow a prefix. */
const forms = [
  form(10, '(?!0.)'),
  form(16, '0x_?'),
  form(2, '0b_?'),
  form(8, '0o_?'),
  form(8, '0_?'),
] as const;

/**
 * Returns the number that Go's flags read in a text, such as 16 for `0x10` and 8 for `010`; undefined for
 * another text, and for a number that is not exact in JavaScript.
 */
export function integerOf(text: string): number | undefined {
  const [, sign = '', rest = ''] = /^([+-]?)(.*)$/s.exec(text) ?? [];
  for (const { base, pattern } of forms) {
    const digits = pattern.exec(rest)?.[1];
    if (digits === undefined) continue;
    const value = Number.parseInt(digits.replaceAll('_', ''), base);
    if (!Number.isSafeInteger(value)) return undefined;
    return sign === '-' && value !== 0 ? -value : value;
  }
  return undefined;
}
