/** Source of the changes of objects: keeps one watch, an ObjectSource, for each Trigger. */
import type { ServiceAccount } from '../../../api/core/v1/types.gen.ts';
import type { ObjectKey } from '../../../apimachinery/meta.ts';
import { apiVersionOf, type ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { rfc3339 } from '../../../base/time.ts';
import type { Client } from '../../../client/client.ts';
import type { Lister } from '../../../client/informer.ts';
import type { ControllerContext } from '../../../controller-runtime/definition.ts';
import type { Trigger } from '../api/trigger.ts';
import type { Backlog } from './backlog.ts';
import type { EventStore } from './event-store.ts';
import { ObjectSource } from './object-source.ts';
import type { Reading, Source, SourceReport } from './source.ts';

export interface ObjectSourcesOptions extends Pick<ControllerContext, 'clock' | 'random' | 'kinds'> {
  readonly accounts: Lister<ServiceAccount>;
  /** Returns a client with the rights of a ServiceAccount. */
  readonly clientOf: (namespace: string, account: string) => Client;
  readonly backlog: Backlog;
  readonly store: EventStore;
  /** Called with a trigger whose watch has a new position or problem. */
  readonly onChange: (key: ObjectKey) => void;
}

export class ObjectSources implements Source {
  readonly #options: ObjectSourcesOptions;
  /** Running watches; `id` changes with everything that a watch depends on. */
  readonly #running = new Map<ObjectKey, { readonly id: string; readonly source: ObjectSource }>();

  constructor(options: ObjectSourcesOptions) {
    this.#options = options;
  }

  /**
   * Begins the trigger's watch, or replaces one that no longer fits, and returns its position and problem.
   */
  report(reading: Reading): SourceReport {
    const { key, trigger, position } = reading;
    const { object, serviceAccountName } = trigger.spec;
    const definition = this.#definitionOf(object);
    if (!definition) {
      this.stop(key);
      const message = `spec.object: ${object?.apiVersion} ${object?.kind} is not served, or cannot be watched`;
      return { position, problem: { reason: 'KindNotServed', message } };
    }
    if (!this.#options.accounts.get(`${trigger.metadata.namespace ?? ''}/${serviceAccountName}`)) {
      this.stop(key);
      const message = `spec.serviceAccountName: there is no account ${JSON.stringify(serviceAccountName)} in the namespace`;
      return { position, problem: { reason: 'AccountMissing', message } };
    }
    const source = this.#runningFor(reading, definition);
    return {
      problem: source.problem,
      position: {
        ...position,
        resourceVersion: source.resourceVersion,
        resourceTime: rfc3339(source.at),
      },
      progress: source,
    };
  }

  stop(key: ObjectKey): void {
    this.#running.get(key)?.source.stop();
    this.#running.delete(key);
  }

  /** Returns the kind that `spec.object` names; undefined if it is not served or cannot be watched. */
  #definitionOf(object: Trigger['spec']['object']): ResourceDefinition | undefined {
    return this.#options.kinds.all.find(
      (one) =>
        apiVersionOf(one) === object?.apiVersion &&
        one.kind === object.kind &&
        !one.isReview &&
        !one.isMeasured,
    );
  }

  #runningFor(reading: Reading, definition: ResourceDefinition): ObjectSource {
    const { key, trigger, position } = reading;
    const id = JSON.stringify([trigger.metadata.uid, position.of, definition.plural]);
    const running = this.#running.get(key);
    if (running?.id === id) return running.source;
    this.stop(key);
    const source = this.#begin(reading, definition);
    this.#running.set(key, { id, source });
    return source;
  }

  #begin({ key, trigger, position, signal }: Reading, definition: ResourceDefinition): ObjectSource {
    const { clientOf, clock, random, backlog, store, onChange } = this.#options;
    const { namespace = '', resourceVersion } = trigger.metadata;
    return new ObjectSource(
      {
        trigger,
        definition,
        resourceVersion: position.resourceVersion ?? resourceVersion,
        at: Date.parse(position.resourceTime ?? position.since),
        client: clientOf(namespace, trigger.spec.serviceAccountName),
        clock,
        random,
        isFull: () => backlog.isFull(key),
        room: (until) => backlog.room(key, until),
        store: (happening) => store.store(trigger, happening),
        onChange: () => onChange(key),
      },
      signal,
    );
  }
}
