/**
 * What Kubernetes says of the types of its stable kinds, read from the generated models of @kubernetes/client-node (Apache-2.0).
 * Its sentences go only into the one file (field-docs.ts), with that package's licence.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export interface Attribute {
  readonly name: string;
  readonly baseName: string;
  readonly type: string;
}

export interface KubernetesField extends Attribute {
  /** Empty where Kubernetes says nothing. */
  readonly description: string;
}

export interface KubernetesModel {
  /** Such as `V1Pod`. */
  readonly name: string;
  readonly description: string;
  readonly fields: readonly KubernetesField[];
}

interface Model {
  getAttributeTypeMap(): readonly Attribute[];
}

/** The file that changes with the package's version. */
export const modelsPackage = join(packageRoot(), 'package.json');
const models = join(packageRoot(), 'dist/gen/models');

function packageRoot(): string {
  const entry = createRequire(import.meta.url).resolve('@kubernetes/client-node');
  return entry.slice(0, entry.lastIndexOf('/dist/'));
}

/** Types that are no kind of their own and yet travel alone. */
const extraRoots = ['V1DeleteOptions', 'V1ListMeta'];
/** Kinds of the device allocation API, which a node without device drivers has no use for. */
const leftOut = /^(?:ResourceV1|V1DeviceClass$|V1ResourceSlice$|V1ResourceClaimTemplate$)/;

/** In the order of their names. */
export async function kubernetesModels(): Promise<KubernetesModel[]> {
  const modules = (await import(pathToFileURL(join(models, 'all.js')).href)) as Record<string, unknown>;
  return reachable(modules, rootTypes(modules)).map((name) => {
    const { type, fields } = readDeclarations(name);
    return {
      name,
      description: type,
      fields: attributes(modules, name).map((attribute) => ({
        ...attribute,
        description: fields.get(attribute.name) ?? '',
      })),
    };
  });
}

function isModel(value: unknown): value is Model {
  return typeof value === 'function' && 'getAttributeTypeMap' in value;
}

function attributes(modules: Record<string, unknown>, name: string): readonly Attribute[] {
  const model = modules[name];
  if (!isModel(model)) throw new Error(`client-node has no model ${name}`);
  return model.getAttributeTypeMap();
}

function rootTypes(modules: Record<string, unknown>): string[] {
  const kinds = Object.keys(modules).filter((name) => {
    if (!isModel(modules[name]) || /alpha|beta/.test(name) || name.endsWith('List') || leftOut.test(name))
      return false;
    const fields = attributes(modules, name).map((attribute) => attribute.baseName);
    return ['apiVersion', 'kind', 'metadata'].every((field) => fields.includes(field));
  });
  return [...kinds, ...extraRoots];
}

function reachable(modules: Record<string, unknown>, roots: readonly string[]): string[] {
  const seen = new Set<string>();
  const pending = [...roots];
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (seen.has(name)) continue;
    seen.add(name);
    for (const { type } of attributes(modules, name)) {
      const inner = innermost(type);
      if (isModel(modules[inner])) pending.push(inner);
    }
  }
  return [...seen].sort();
}

function innermost(type: string): string {
  const list = /^(?:Array|Set)<(.*)>$/.exec(type)?.[1];
  const map = /^\{ \[key: string\]: (.*); \}$/.exec(type)?.[1];
  return list || map ? innermost(list ?? map ?? '') : type;
}

interface Declarations {
  readonly type: string;
  /** By the model's property name. */
  readonly fields: ReadonlyMap<string, string>;
}

/** Descriptions stand only in the declaration file. */
function readDeclarations(name: string): Declarations {
  const text = readFileSync(join(models, `${name}.d.ts`), 'utf8');
  const fields = new Map<string, string>();
  const type = /\/\*\*\n\* ([^\n]*)\n\*\/\nexport declare class/.exec(text)?.[1] ?? '';
  const body = text.slice(text.indexOf('export declare class'));
  for (const [, comment, field] of body.matchAll(
    /(?: {4}\/\*\*\n {4}\* ([^\n]*)\n {4}\*\/\n)? {4}'([^'\n]+)'\??: /g,
  )) {
    if (field === undefined) continue;
    fields.set(field, plain(comment ?? ''));
  }
  return { type: plain(type), fields };
}

const plain = (comment: string) => comment.replace(/\\(["'`\\])/g, '$1').trim();
