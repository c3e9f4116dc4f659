/**
 * Reads Kubernetes' descriptions of types and fields from the declarations of kubernetes-models, which is
 * generated from Kubernetes' OpenAPI document. The descriptions are copied only into the one file
 * (field-docs.ts), with both licences.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const models = dirname(fileURLToPath(import.meta.resolve('kubernetes-models')));
const apimachinery = dirname(fileURLToPath(import.meta.resolve('@kubernetes-models/apimachinery')));

/** The files that change with the packages' versions. */
export const modelsPackages = [models, apimachinery].map((folder) => join(folder, 'package.json'));

/** Suffixes of a group's folder: it has the group's full name; the core group has none. */
const domains = ['', '.k8s.io', '.authorization.k8s.io', '.apiserver.k8s.io'];

/**
 * Returns the descriptions of a type such as `core.v1.Pod` by field, with the type's own under the empty
 * name; undefined for a type that Kubernetes does not have.
 */
export function readTexts(type: string): Record<string, string> | undefined {
  const path = declarationOf(type);
  if (path === undefined) return undefined;
  const text = readFileSync(path, 'utf8');
  const [, about = '', body = ''] = interfaceForm.exec(text) ?? [];
  const fields = [...body.matchAll(fieldForm)].map(([, comment = '', name = '']) => [
    name,
    plain(comment) || textOfEveryKind(name, type),
  ]);
  return { '': plain(about), ...Object.fromEntries(fields) };
}

/**
 * Returns the descriptions of `apiVersion` and `kind`, which declarations of kinds lack; the declaration of
 * Status has both.
 */
function textOfEveryKind(field: string, type: string): string {
  const whole = 'meta.v1.Status';
  return ['apiVersion', 'kind'].includes(field) && type !== whole ? (readTexts(whole)?.[field] ?? '') : '';
}

const interfaceForm = /(?:\/\*\*\n((?: \*.*\n)*?) \*\/\n)?export interface \w+[^\n]*\{\n([\s\S]*?\n)\}/;
const fieldForm = /^(?: {4}\/\*\*\n((?: {4} \*.*\n)*?) {4} \*\/\n)? {4}"([^"\n]+)"\??: /gm;

function declarationOf(type: string): string | undefined {
  const [group = '', version = '', name = ''] = type.split('.');
  // Types of the core group that come from the meta group are declared there.
  const folders = ['core', 'meta'].includes(group)
    ? [join(models, version), join(apimachinery, 'apis/meta', version)]
    : domains.map((domain) => join(models, `${group}${domain}`, version));
  return folders.map((folder) => join(folder, `${name}.d.ts`)).find((path) => existsSync(path));
}

/** Removes the comment's asterisks, and the escapes that keep a text from ending the comment. */
const plain = (comment: string) =>
  comment
    .replace(/^ *\* ?/gm, '')
    .replace(/\\([*/])/g, '$1')
    .trim();
