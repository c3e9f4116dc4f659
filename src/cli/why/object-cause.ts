/** The first cause of the state of one object, for the end of its description. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { explain, type Step } from '../../why/explain.ts';
import { type KindKey, keyOfKind, nameOf, type ObjectRef } from '../../why/kinds.ts';
import type { RuleBook } from '../../why/rule-book.ts';
import { Snapshot } from '../../why/snapshot.ts';
import type { Cluster } from '../connection/cluster.ts';
import type { ObjectTarget } from '../objects/object-target.ts';
import { causeLine } from './cause-line.ts';
import { readSnapshot } from './read-snapshot.ts';

/** Kinds whose own status shows whether they are as wished: nothing else is read for those that are. */
const selfEvident: readonly KindKey[] = [
  'nodes',
  'deployments.apps',
  'statefulsets.apps',
  'daemonsets.apps',
  'replicasets.apps',
  'jobs.batch',
  'pods',
];

/** Maximum number of objects of a kind that is read: of a kind with more, no cause is named. */
const maxObjects = 500;

export class ObjectCauses {
  readonly #cluster: Cluster;
  readonly #book: RuleBook;
  /** Objects by namespace: several objects of a namespace are described with one reading. */
  readonly #seen = new Map<string, Promise<Snapshot>>();

  constructor(cluster: Cluster, book: RuleBook) {
    this.#cluster = cluster;
    this.#book = book;
  }

  /**
   * Resolves to a line with the first cause; undefined for an object that is as wished, for kinds that are
   * not explained, and if the objects cannot be read: a description must not fail for want of a cause.
   */
  async lineOf(
    { resource, namespace }: ObjectTarget,
    object: JsonObject,
    nowMs: number,
  ): Promise<string | undefined> {
    const key = keyOfKind(resource.kind);
    if (!key || !this.#book.explains(key)) return undefined;
    const { name } = object.metadata as { readonly name: string };
    const subject: ObjectRef = { key, namespace: resource.namespaced ? namespace : '', name };
    const alone = new Snapshot({ nowMs, objects: { [key]: [{ ...object, kind: resource.kind }] } });
    const [own] = explain(alone, subject, this.#book);
    if (!own && selfEvident.includes(key)) return undefined;
    const seen = await this.#read(namespace, nowMs).catch(() => undefined);
    const chain = seen ? explain(seen, subject, this.#book) : [];
    const first = chain.at(-1) ?? own;
    return first && lineOf(first, subject);
  }

  #read(namespace: string, nowMs: number): Promise<Snapshot> {
    const reading = this.#seen.get(namespace) ?? this.#readNow(namespace, nowMs);
    this.#seen.set(namespace, reading);
    return reading;
  }

  async #readNow(namespace: string, nowMs: number): Promise<Snapshot> {
    return (await readSnapshot(this.#cluster, namespace, nowMs, { maxObjects })).snapshot;
  }
}

function lineOf({ about, finding }: Step, subject: ObjectRef): string {
  const isSelf = about.key === subject.key && about.name === subject.name;
  return `${isSelf ? '' : `${nameOf(about)}: `}${causeLine(finding)}`;
}
