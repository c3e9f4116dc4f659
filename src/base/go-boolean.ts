/** Booleans as Go's strconv.ParseBool reads them. Pure. */

/** The texts that Go's flags accept as the value of a boolean flag. */
const booleans: Readonly<Record<string, boolean>> = Object.fromEntries([
  ...['1', 't', 'T', 'true', 'TRUE', 'True'].map((text) => [text, true] as const),
  ...['0', 'f', 'F', 'false', 'FALSE', 'False'].map((text) => [text, false] as const),
]);

/** Returns the boolean that Go's flags read in a text; undefined for another text. */
export const booleanOf = (text = ''): boolean | undefined =>
  Object.hasOwn(booleans, text) ? booleans[text] : undefined;
