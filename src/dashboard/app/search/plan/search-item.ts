/**
 * The texts by which searches find an object: names, labels, images, addresses, messages and states. Pure.
 */
import type { JsonObject } from '../../../../apimachinery/equality.ts';
import { recordsAt, stringMap, valueAt } from '../../../../apimachinery/fields.ts';
import type { KubeObject } from '../../../../apimachinery/meta.ts';
import type { ApiKind } from '../../cluster/plan/discovery.ts';
import { objectHealth } from './object-health.ts';
import type { Searchable } from './query.ts';

export interface SearchItem extends Searchable {
  readonly kind: ApiKind;
  readonly object: KubeObject;
  /** Name in lower case, by which results are ranked. */
  readonly name: string;
}

export const searchItem = (kind: ApiKind, object: KubeObject): SearchItem => new Item(kind, object);

/** Readers of the fields of an object, by the names of the fields. */
const readers: Readonly<Record<string, (item: { kind: ApiKind; object: JsonObject }) => readonly unknown[]>> =
  {
    kind: ({ kind }) => [kind.kind, kind.plural, kind.singular, ...kind.shortNames],
    name: ({ object }) => [valueAt(object, 'metadata', 'name')],
    ns: ({ object }) => [valueAt(object, 'metadata', 'namespace')],
    node: ({ kind, object }) => [
      valueAt(object, kind.key === 'nodes' ? 'metadata' : 'spec', kind.key === 'nodes' ? 'name' : 'nodeName'),
    ],
    image: ({ object }) => imagesOf(object),
    ip: ({ object }) => addressesOf(object),
    host: ({ object }) => hostsOf(object),
    status: ({ object }) => statesOf(object),
    message: ({ object }) => messagesOf(object),
  };

const otherNames: Readonly<Record<string, string>> = {
  namespace: 'ns',
  address: 'ip',
  phase: 'status',
  reason: 'status',
};

/** Fields that a word without a field is searched in. */
const textFields = Object.keys(readers);

/** An object whose texts are computed when a search first reads them. */
class Item implements SearchItem {
  readonly kind: ApiKind;
  readonly object: KubeObject;
  readonly name: string;
  #text: string | undefined;
  #labels: readonly string[] | undefined;
  #health: { readonly value: Searchable['health'] } | undefined;

  constructor(kind: ApiKind, object: KubeObject) {
    this.kind = kind;
    this.object = object;
    this.name = object.metadata.name.toLowerCase();
  }

  get labels(): readonly string[] {
    this.#labels ??= Object.entries(stringMap(valueAt(this.#json, 'metadata', 'labels'))).map(
      ([key, value]) => `${key}=${value}`.toLowerCase(),
    );
    return this.#labels;
  }

  get text(): string {
    this.#text ??= [...textFields.flatMap((field) => this.valuesOf(field) ?? []), ...this.labels].join('\n');
    return this.#text;
  }

  get health(): Searchable['health'] {
    this.#health ??= { value: objectHealth(this.kind.kind, this.#json) };
    return this.#health.value;
  }

  valuesOf(field: string): readonly string[] | undefined {
    const name = Object.hasOwn(otherNames, field) ? (otherNames[field] ?? '') : field;
    const read = Object.hasOwn(readers, name) ? readers[name] : undefined;
    const values = read?.({ kind: this.kind, object: this.#json });
    return values?.flatMap((value) =>
      typeof value === 'string' && value !== '' ? [value.toLowerCase()] : [],
    );
  }

  get #json(): JsonObject {
    return this.object as unknown as JsonObject;
  }
}

const podSpecs = (object: JsonObject): readonly (readonly string[])[] =>
  valueAt(object, 'spec', 'jobTemplate') !== undefined
    ? [['spec', 'jobTemplate', 'spec', 'template', 'spec']]
    : [['spec'], ['spec', 'template', 'spec']];

const imagesOf = (object: JsonObject): unknown[] =>
  podSpecs(object).flatMap((path) =>
    ['containers', 'initContainers'].flatMap((field) =>
      recordsAt(object, ...path, field).map(({ image }) => image),
    ),
  );

function addressesOf(object: JsonObject): unknown[] {
  return [
    valueAt(object, 'status', 'podIP'),
    ...recordsAt(object, 'status', 'podIPs').map(({ ip }) => ip),
    valueAt(object, 'spec', 'clusterIP'),
    ...recordsAt(object, 'status', 'addresses').map(({ address }) => address),
    ...recordsAt(object, 'status', 'loadBalancer', 'ingress').flatMap(({ ip, hostname }) => [ip, hostname]),
    ...listAt(object, 'spec', 'externalIPs'),
  ];
}

const hostsOf = (object: JsonObject): unknown[] => [
  ...recordsAt(object, 'spec', 'rules').map(({ host }) => host),
  ...listAt(object, 'spec', 'hostnames'),
  valueAt(object, 'spec', 'externalName'),
];

function listAt(object: JsonObject, ...path: readonly string[]): readonly unknown[] {
  const value = valueAt(object, ...path);
  return Array.isArray(value) ? value : [];
}

const containerStatuses = (object: JsonObject): JsonObject[] =>
  ['initContainerStatuses', 'containerStatuses'].flatMap((field) => recordsAt(object, 'status', field));

const statesOf = (object: JsonObject): unknown[] => [
  valueAt(object, 'status', 'phase'),
  valueAt(object, 'status', 'reason'),
  valueAt(object, 'reason'),
  ...containerStatuses(object).flatMap((status) => [
    valueAt(status, 'state', 'waiting', 'reason'),
    valueAt(status, 'state', 'terminated', 'reason'),
  ]),
];

const messagesOf = (object: JsonObject): unknown[] => [
  valueAt(object, 'message'),
  valueAt(object, 'status', 'message'),
  ...recordsAt(object, 'status', 'conditions').map(({ message }) => message),
  ...containerStatuses(object).flatMap((status) => [
    valueAt(status, 'state', 'waiting', 'message'),
    valueAt(status, 'state', 'terminated', 'message'),
    valueAt(status, 'lastState', 'terminated', 'message'),
  ]),
];
