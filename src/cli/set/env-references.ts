/** Resolves references of variables: to ConfigMaps and Secrets of the server, and to the object itself. */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import type { Cluster } from '../connection/cluster.ts';
import { findResource } from '../objects/discovery.ts';
import { targetPath } from '../objects/object-target.ts';
import { recordAt, textAt } from '../objects/objects.ts';
import { fieldValue, resourceValue } from './env-values-plan.ts';

/** Resolves references; each ConfigMap and Secret is read once. */
export class References {
  readonly #cluster: () => Cluster;
  readonly #objects = new Map<string, Promise<JsonObject>>();

  constructor(cluster: () => Cluster) {
    this.#cluster = cluster;
  }

  /** Resolves to the value of a `valueFrom`. Rejects with the reason if it has none. */
  async valueOf(from: JsonObject, object: JsonObject, container: JsonObject): Promise<string> {
    if (isRecord(from.secretKeyRef)) {
      const value = await this.#key('secrets', 'secret', from.secretKeyRef);
      return Buffer.from(value, 'base64').toString('utf8');
    }
    if (isRecord(from.configMapKeyRef)) return this.#key('configmaps', 'config map', from.configMapKeyRef);
    if (isRecord(from.fieldRef)) return fieldValue(object, textAt(from.fieldRef, 'fieldPath'));
    if (isRecord(from.resourceFieldRef)) return resourceValue(from.resourceFieldRef, container);
    throw new Error('invalid valueFrom');
  }

  async #key(plural: string, noun: string, reference: JsonObject): Promise<string> {
    const [name, key] = [textAt(reference, 'name'), textAt(reference, 'key')];
    const id = `${plural}/${name}`;
    const reading = this.#objects.get(id) ?? this.#read(plural, name);
    this.#objects.set(id, reading);
    const data = recordAt(await reading, 'data');
    const value = Object.hasOwn(data, key) ? data[key] : undefined;
    if (typeof value !== 'string') throw new Error(`key ${key} not found in ${noun} ${name}`);
    return value;
  }

  async #read(plural: string, name: string): Promise<JsonObject> {
    const cluster = this.#cluster();
    const resource = findResource(await cluster.resources(), plural);
    return cluster.get(targetPath({ resource, namespace: cluster.namespace, name }));
  }
}
