/**
 * The types of Kubernetes' stable APIs, read from the Go modules that define them (go.mod has the version):
 * names, numbers and types, without their descriptions.
 */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { goOffline, goProgram } from '../build/go.ts';
import { type GoField, type GoFile, type GoStruct, type Markers, readGo } from './go-source.ts';

export interface ApiType {
  /** Name such as `core.v1.PodSpec`. */
  readonly name: string;
  /** True if server-side apply owns a value of this type as a whole. */
  readonly atomic: boolean;
  readonly fields: readonly ApiField[];
}

export interface ApiField {
  /** Name in JSON; empty for an embedded type, whose fields are in their parent in JSON. */
  readonly name: string;
  /** Number in protobuf; undefined for apiVersion and kind, which protobuf does not have. */
  readonly number: number | undefined;
  /** Type as in the table: `*int32`, `[]core.v1.Container`, `{}quantity`, `core.v1.RestartPolicy`. */
  readonly type: string;
  readonly required: boolean;
  /** True if Go leaves out the field's zero value, which it cannot distinguish from an absent one. */
  readonly omitsZero: boolean;
  /** Merge rules: `merge=name`, `merge`, `retain`, `map=port+protocol`, `set`, `atomic`. */
  readonly rules: readonly string[];
}

export interface ApiTypes {
  readonly types: readonly ApiType[];
  /** The values of string types that Kubernetes marks as enumerations, by type name. */
  readonly choices: ReadonlyMap<string, readonly string[]>;
}

/**
 * Packages by the prefix of their types' names. The device allocation API is left out, since a node without
 * such drivers cannot use it.
 */
const goPackages = [
  ...[
    'admission',
    'admissionregistration',
    'apps',
    'authentication',
    'authorization',
    'autoscaling',
    'batch',
    'certificates',
    'coordination',
    'core',
    'discovery',
    'events',
    'flowcontrol',
    'networking',
    'node',
    'policy',
    'rbac',
    'scheduling',
    'storage',
    'storagemigration',
  ].map((group) => [`k8s.io/api/${group}/v1`, `${group}.v1`] as const),
  ['k8s.io/api/autoscaling/v2', 'autoscaling.v2'],
  // Versions of MutatingAdmissionPolicies that manifests from before Kubernetes 1.36 have.
  ['k8s.io/api/admissionregistration/v1alpha1', 'admissionregistration.v1alpha1'],
  ['k8s.io/api/admissionregistration/v1beta1', 'admissionregistration.v1beta1'],
  // batch.v1 uses types of this package.
  ['k8s.io/api/scheduling/v1alpha3', 'scheduling.v1alpha3'],
  ['k8s.io/apimachinery/pkg/apis/meta/v1', 'meta.v1'],
  ['k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1', 'apiextensions.v1'],
  ['k8s.io/kube-aggregator/pkg/apis/apiregistration/v1', 'apiregistration.v1'],
] as const;

const prefixes: ReadonlyMap<string, string> = new Map(goPackages);

/** Types whose JSON differs from their Go fields. */
const special: Readonly<Record<string, string>> = {
  'k8s.io/apimachinery/pkg/api/resource.Quantity': 'quantity',
  'k8s.io/apimachinery/pkg/util/intstr.IntOrString': 'intOrString',
  'k8s.io/apimachinery/pkg/types.UID': 'string',
  'k8s.io/apimachinery/pkg/types.NodeName': 'string',
  'k8s.io/apimachinery/pkg/runtime.RawExtension': 'any',
  'meta.v1.Time': 'time',
  'meta.v1.MicroTime': 'microTime',
  'meta.v1.Duration': 'string',
  'meta.v1.FieldsV1': 'any',
  'apiextensions.v1.JSON': 'any',
  'apiextensions.v1.JSONSchemaPropsOrArray': 'any',
  'apiextensions.v1.JSONSchemaPropsOrBool': 'any',
  'apiextensions.v1.JSONSchemaPropsOrStringArray': 'any',
};

const builtIn: Readonly<Record<string, string>> = {
  string: 'string',
  bool: 'bool',
  int: 'int32',
  int32: 'int32',
  int64: 'int64',
  uint32: 'int64',
  float64: 'double',
  '[]byte': 'bytes',
  'interface{}': 'any',
};

/**
 * The scalars whose zero values `omitempty` leaves out. It never leaves out structs, which in Go include
 * times and quantities.
 */
const omittable: ReadonlySet<string> = new Set(Object.values(builtIn));

const root = join(import.meta.dirname, '../..');

/** Returns the directory of a module, which bin/setup has fetched. */
function moduleDirectory(module: string): string {
  const text = execFileSync(goProgram(root), ['mod', 'download', '-json', module], {
    cwd: import.meta.dirname,
    encoding: 'utf8',
    env: { ...process.env, ...goOffline },
  });
  const { Dir } = JSON.parse(text) as { readonly Dir?: string };
  if (!Dir) throw new Error(`go has no directory for ${module}; run bin/setup --tests`);
  return Dir;
}

const modules = [
  'k8s.io/apimachinery',
  'k8s.io/apiextensions-apiserver',
  'k8s.io/kube-aggregator',
  'k8s.io/api',
];

interface Package {
  readonly prefix: string;
  readonly files: readonly GoFile[];
}

function readPackage(path: string, prefix: string, directories: ReadonlyMap<string, string>): Package {
  const [module = '', parent = ''] = [...directories].find(([name]) => path.startsWith(`${name}/`)) ?? [];
  const directory = join(parent, path.slice(module.length));
  const names = globSync('{types,types_*,group_version}.go', { cwd: directory, exclude: ['*_generated.go'] });
  return { prefix, files: names.map((name) => readGo(readFileSync(join(directory, name), 'utf8'))) };
}

/** Returns all types of the stable packages except lists of objects, sorted by name. */
export function kubernetesTypes(): ApiTypes {
  const directories = new Map(modules.map((module) => [module, moduleDirectory(module)]));
  const packages = goPackages.map(([path, prefix]) => readPackage(path, prefix, directories));
  const reader = new TypeReader(packages);
  const types = packages.flatMap(({ prefix, files }) =>
    files.flatMap((file) =>
      file.structs
        .filter((struct) => !isList(struct) && special[`${prefix}.${struct.name}`] === undefined)
        .map((struct) => reader.typeOf(prefix, file, struct)),
    ),
  );
  return { types: types.sort((a, b) => (a.name < b.name ? -1 : 1)), choices: reader.choices };
}

const isList = ({ fields }: GoStruct) =>
  fields.some(({ name }) => name === 'Items') && fields.some(({ type }) => /^(?:\w+\.)?ListMeta$/.test(type));

class TypeReader {
  readonly choices = new Map<string, readonly string[]>();
  readonly #named = new Map<
    string,
    { readonly prefix: string; readonly file: GoFile; readonly type: string }
  >();

  constructor(packages: readonly Package[]) {
    for (const one of packages) for (const file of one.files) this.#readNamed(one, file);
  }

  #readNamed({ prefix, files }: Package, file: GoFile): void {
    for (const { name, type, markers } of file.named) {
      this.#named.set(`${prefix}.${name}`, { prefix, file, type: type.replace(/^= */, '') });
      const values = files.flatMap(({ constants }) => constants.get(name) ?? []);
      if (markers.has('enum') && values.length > 0)
        this.choices.set(`${prefix}.${name}`, [...new Set(values)].sort());
    }
  }

  typeOf(prefix: string, file: GoFile, struct: GoStruct): ApiType {
    const fields = struct.fields
      .filter(({ tags }) => tags.get('json') !== '-' && tags.has('json'))
      .map((field) => this.#field(prefix, file, field));
    return {
      name: `${prefix}.${struct.name}`,
      atomic: isAtomic(struct.markers),
      fields,
    };
  }

  #field(prefix: string, file: GoFile, field: GoField): ApiField {
    const [name = '', ...options] = (field.tags.get('json') ?? '').split(',');
    const omits = options.includes('omitempty');
    const type = this.#resolve(prefix, file, field.type);
    return {
      name,
      number: protobufNumber(field),
      type,
      required: isRequired(field, omits || name === ''),
      omitsZero: omits && (/^\[\]|^\{\}/.test(type) || omittable.has(type) || this.choices.has(type)),
      rules: rulesOf(field),
    };
  }

  #resolve(prefix: string, file: GoFile, type: string): string {
    const known = builtIn[type];
    if (known) return known;
    if (type.startsWith('*')) return `*${this.#resolve(prefix, file, type.slice(1))}`;
    if (type.startsWith('[]')) return `[]${this.#resolve(prefix, file, type.slice(2))}`;
    const map = /^map\[[\w.]+\](.*)$/.exec(type)?.[1];
    if (map) return `{}${this.#resolve(prefix, file, map)}`;
    const name = this.#qualified(prefix, file, type);
    const written = special[name];
    if (written) return written;
    const named = this.#named.get(name);
    if (!named || this.choices.has(name)) return name;
    return this.#resolve(named.prefix, named.file, named.type);
  }

  /** Resolves `v1.Container` in a file that imports k8s.io/api/core/v1 as v1 to `core.v1.Container`. */
  #qualified(prefix: string, file: GoFile, type: string): string {
    const [alias, name] = type.split('.');
    if (name === undefined) return `${prefix}.${type}`;
    const path = file.imports.get(alias ?? '');
    if (!path) throw new Error(`${prefix}: ${type} is of a package that is not imported`);
    return `${prefixes.get(path) ?? path}.${name}`;
  }
}

function protobufNumber({ tags }: GoField): number | undefined {
  const number = /^\w+,(\d+),/.exec(tags.get('protobuf') ?? '')?.[1];
  return number === undefined ? undefined : Number(number);
}

/** Returns the same as the rule by which k8s.io/kube-openapi lists required fields. */
const isRequired = ({ markers }: GoField, mayBeAbsent: boolean) =>
  markers.has('required') || !(markers.has('optional') || mayBeAbsent);

const isAtomic = (markers: Markers) =>
  markers.get('structType')?.includes('atomic') === true ||
  markers.get('mapType')?.includes('atomic') === true;

function rulesOf({ tags, markers }: GoField): string[] {
  const strategy = (tags.get('patchStrategy') ?? '').split(',');
  const key = tags.get('patchMergeKey');
  const listType = markers.get('listType')?.[0] ?? markers.get('k8s:listType')?.[0];
  const keys = markers.get('listMapKey') ?? markers.get('k8s:listMapKey') ?? [];
  return [
    ...(strategy.includes('merge') ? [key ? `merge=${key}` : 'merge'] : []),
    ...(strategy.includes('retainKeys') ? ['retain'] : []),
    ...(listType === 'map' ? [`map=${keys.join('+')}`] : []),
    ...(listType === 'set' ? ['set'] : []),
    ...(isAtomic(markers) ? ['atomic'] : []),
  ];
}
