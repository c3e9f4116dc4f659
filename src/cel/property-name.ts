/** Names of JSON properties in expressions (upstream: k8s.io/apiserver/pkg/cel/escaping.go). Pure. */

const reserved: ReadonlySet<string> = new Set(
  (
    'as break const continue else false for function if import in let loop namespace null package return ' +
    'true var void while'
  ).split(' '),
);

/** Returns whether the name means something else in an expression (the grammar of CEL). */
export const isReservedWord = (name: string) => reserved.has(name);

const parts: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
};

/**
 * Returns the name of a property in expressions, such as `foo__dash__bar` for `foo-bar` and `__namespace__`
 * for `namespace`; undefined for a property that expressions cannot name.
 */
export function propertyName(property: string): string | undefined {
  if (!/^[a-zA-Z_./-][\w./-]*$/.test(property)) return undefined;
  if (reserved.has(property)) return `__${property}__`;
  return property.replace(/__|[./-]/g, (part) => parts[part] ?? part);
}
