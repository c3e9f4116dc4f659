/** Names of properties in expressions (k8s.io/apiserver/pkg/cel/escaping.go). Pure. */

const reserved: ReadonlySet<string> = new Set(
  (
    'true false null in as break const continue else for function if import let loop package namespace return ' +
    'var void while'
  ).split(' '),
);

const escapes: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
};

/**
 * Returns the name by which expressions select the property, such as `a__dash__b` for `a-b`; undefined for a
 * property that they cannot select.
 */
export function escapedName(property: string): string | undefined {
  if (!/^[a-zA-Z_./-][\w./-]*$/.test(property)) return undefined;
  if (reserved.has(property)) return `__${property}__`;
  return property.replace(/__|[-./]/g, (found) => escapes[found] ?? found);
}
