/** The searchable side of any object: names, labels, images, addresses, messages and states. Pure. */
import type { JsonObject } from '../../../../apimachinery/equality.ts';
import { recordsAt, stringMap, textAt, valueAt } from '../../../../apimachinery/fields.ts';
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

export function searchItem(kind: ApiKind, object: KubeObject): SearchItem {
  const { name, namespace = '' } = object.metadata;
  const found = object as unknown as JsonObject;
  const fields = new Map<string, readonly string[]>();
  const put = (names: readonly string[], values: readonly unknown[]) => {
    const texts = values.filter((value) => typeof value === 'string' && value !== '') as string[];
    const lower = [...new Set(texts.map((text) => text.toLowerCase()))];
    for (const field of names) fields.set(field, lower);
  };
  put(['kind'], [kind.kind, kind.plural, kind.singular, ...kind.shortNames]);
  put(['name'], [name]);
  put(['namespace', 'ns'], [namespace]);
  put(['node'], [textAt(found, 'spec', 'nodeName'), ...(kind.key === 'nodes' ? [name] : [])]);
  put(['image'], imagesOf(found));
  put(['ip', 'address'], addressesOf(found));
  put(['host'], hostsOf(found));
  put(['status', 'phase', 'reason'], statesOf(found));
  put(['message'], messagesOf(found));
  const labels = Object.entries(stringMap(valueAt(found, 'metadata', 'labels'))).map(([key, value]) =>
    `${key}=${value}`.toLowerCase(),
  );
  const texts = ['name', 'ns', 'node', 'image', 'ip', 'host', 'status', 'message'].flatMap(
    (field) => fields.get(field) ?? [],
  );
  return {
    kind,
    object,
    name: name.toLowerCase(),
    fields,
    labels,
    text: [kind.kind.toLowerCase(), ...texts, ...labels].join('\n'),
    health: objectHealth(kind.kind, found),
  };
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
