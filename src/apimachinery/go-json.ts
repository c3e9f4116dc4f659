/** JSON as Go's encoder writes it, which escapes the marks of HTML in texts. */

/** Returns compact JSON, or lines that are indented by `indent` blanks. */
export const goJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replaceAll(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
