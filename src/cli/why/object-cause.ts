/** The first cause of the state of one object, for the end of its description. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { StatusError } from '../../apimachinery/status-error.ts';
import { explain, type Step } from '../../why/explain.ts';
import { type KindKey, keyOfKind, nameOf, type ObjectRef } from '../../why/kinds.ts';
import type { RuleBook } from '../../why/rule-book.ts';
import { refOf, Snapshot } from '../../why/snapshot.ts';
import type { Cluster } from '../connection/cluster.ts';
import type { ObjectTarget } from '../objects/object-target.ts';
import { podSelectorOf, textAt } from '../objects/objects.ts';
import { causeLine } from './cause-line.ts';
import { readKind } from './read-snapshot.ts';

/** Maximum number of objects of a kind that are read. A kind with more objects counts as not read. */
const maxObjects = 500;
/** Maximum number of readings one after the other; each reads the kinds that the rules have asked for. */
const maxReadings = 5;

export class ObjectCauses {
  readonly #cluster: Cluster;
  readonly #book: RuleBook;
  /** Objects that were read, by kind, namespace and labels: several descriptions share one reading. */
  readonly #read = new Map<string, ReturnType<typeof readKind>>();

  constructor(cluster: Cluster, book: RuleBook) {
    this.#cluster = cluster;
    this.#book = book;
  }

  /**
   * Resolves to a line with the first cause; undefined for an object without a problem, for kinds that no
   * rule explains, and if the server rejects the list of a kind, because a description must not fail then.
   * Reads only the kinds that rules consult, so that an object whose status shows that all is well costs no
   * request.
   */
  async lineOf(target: ObjectTarget, object: JsonObject, nowMs: number): Promise<string | undefined> {
    const { resource } = target;
    const key = keyOfKind(resource.kind);
    if (!key || !this.#book.explains(key)) return undefined;
    const whole = { ...object, kind: resource.kind };
    const subject = refOf(key, whole);
    const objects: Partial<Record<KindKey, readonly JsonObject[]>> = { [key]: [whole] };
    const asked = new Set<KindKey>([key]);
    for (let readings = 0; ; readings++) {
      const wanted = new Set<KindKey>();
      const seen = new Snapshot({ nowMs, objects, onUnread: (one) => wanted.add(one) });
      const first = explain(seen, subject, this.#book).at(-1);
      const unread = [...wanted].filter((one) => !asked.has(one));
      if (unread.length === 0 || readings === maxReadings) return first && lineOf(first, subject);
      await Promise.all(
        unread.map(async (one) => {
          asked.add(one);
          const list = await this.#list(one, target, whole);
          if (Array.isArray(list)) objects[one] = list;
        }),
      );
    }
  }

  /**
   * Resolves to the objects of a kind, for the pods of a workload only to those that it selects. If the
   * objects cannot be read, resolves to 'forbidden' or undefined.
   */
  #list(key: KindKey, { namespace }: ObjectTarget, object: JsonObject): ReturnType<typeof readKind> {
    const labelSelector = key === 'pods' && isWorkload(object) ? podSelectorOf(object) : undefined;
    const id = `${key} ${namespace} ${labelSelector ?? ''}`;
    const reading =
      this.#read.get(id) ??
      readKind(this.#cluster, { key, namespace, labelSelector, maxObjects }).catch(refusalOnly);
    this.#read.set(id, reading);
    return reading;
  }
}

/** Returns undefined for a rejection by the server; throws other errors. */
function refusalOnly(error: unknown): undefined {
  if (!(error instanceof StatusError)) throw error;
}

const isWorkload = (object: JsonObject) =>
  ['Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet', 'Job'].includes(textAt(object, 'kind'));

function lineOf({ about, finding }: Step, subject: ObjectRef): string {
  const isSelf = about.key === subject.key && about.name === subject.name;
  return `${isSelf ? '' : `${nameOf(about)}: `}${causeLine(finding)}`;
}
