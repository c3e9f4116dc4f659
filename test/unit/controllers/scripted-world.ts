/**
 * A controller between a cache that a test fills by hand, so that it can lag, and a server that stores
 * objects as they are written. The server rejects a write that is based on an older version, but has no
 * defaults, validation or admission: integration tests show whether the real server accepts the writes.
 */

import { eventResource } from '../../../src/api/core/v1/event/event.ts';
import type { AccountRights } from '../../../src/api/rbac/v1/rule-rows.ts';
import { deepCopy } from '../../../src/apimachinery/equality.ts';
import type { ObjectType } from '../../../src/apimachinery/field-types.ts';
import { KindSet } from '../../../src/apimachinery/kind-set.ts';
import { type Draft, type KubeObject, type ObjectKey, objectKey } from '../../../src/apimachinery/meta.ts';
import { applyMergePatch } from '../../../src/apimachinery/patch-merge.ts';
import { applyStrategicPatch } from '../../../src/apimachinery/patch-strategic.ts';
import type { ResourceRef } from '../../../src/apimachinery/resource-definition.ts';
import { newAlreadyExists, newConflict, newNotFound } from '../../../src/apimachinery/status-error.ts';
import type { Client, DeleteOptions, PatchType } from '../../../src/client/client.ts';
import type { ControllerFactory } from '../../../src/controller-runtime/definition.ts';
import { registry, storedKinds } from '../../../src/features/kinds.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { ScriptedInformers } from '../../fixtures/scripted-informers.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { DeclaredRights } from './declared-rights.ts';
import { at } from './objects.ts';

/** Type for directives of strategic patches; lists merge as in JSON. */
const untyped: ObjectType = { name: 'untyped', atomic: false, fields: new Map() };

interface WithStatus extends KubeObject {
  readonly status?: unknown;
}

export class ScriptedWorld {
  readonly clock = new FakeClock();
  readonly log = new RecordingLogger();
  readonly seen = new ScriptedInformers();
  /** `TYPE REASON NAME: MESSAGE` of each event. */
  readonly told: string[] = [];
  /** Keys that the controller has enqueued itself. */
  readonly enqueued: ObjectKey[] = [];
  /** Removed objects in their last state. */
  readonly gone = new Map<string, KubeObject>();
  /** Returns an error to answer instead of the server; `verb` is one of the client's methods. */
  refuse: (verb: string, name: string) => Error | undefined = () => undefined;
  /** Returns whether the answer to a request that the server has carried out is lost. */
  loses: (verb: string) => boolean = () => false;
  /** `VERB KIND NAME` of each request. */
  readonly asked: string[] = [];
  readonly #stored = new Map<string, KubeObject>();
  #made: number;
  #version: number;
  readonly #rights: DeclaredRights | undefined;
  readonly controller: ReturnType<ControllerFactory>;

  /**
   * `made`: number of objects that the server has made before; names and versions continue from there.
   * `rights`: rights of all controllers of the account; requests beyond them are answered with 403. Without
   * it everything is allowed.
   */
  constructor(factory: ControllerFactory, made = 0, rights?: readonly AccountRights[]) {
    this.#rights = rights && new DeclaredRights(rights);
    this.#made = made;
    this.#version = 100 + made;
    const { clock, log, seen: informers } = this;
    this.controller = factory({
      client: this.#client(),
      kinds: new KindSet(registry),
      clock,
      log,
      informers,
      random: new SeededRandom(1),
      enqueue: (keys) => void this.enqueued.push(...keys),
      events: {
        event: (about, type, reason, message) => {
          for (const verb of ['create', 'patch'])
            this.#rights?.require({ verb, ref: eventResource, name: about.metadata.name });
          this.told.push(`${type} ${reason} ${about.metadata.name}: ${message}`);
        },
      },
    });
  }

  /** Aborts when the leadership of this process ends. */
  readonly #term = new AbortController();

  reconcile = (key: ObjectKey) => this.controller.reconcile(key, this.#term.signal);

  /** Returns the keys to which the controller maps a change of the object. */
  keysOf<T extends KubeObject>(ref: ResourceRef<T>, object: T): readonly ObjectKey[] {
    const { watches, watchOf } = this.controller;
    const ofKinds = storedKinds.flatMap((kind) => watchOf?.(kind) ?? []);
    return [...watches, ...ofKinds].flatMap(({ resource, keys }) =>
      resource.kind === ref.kind ? keys(object) : [],
    );
  }

  /** Stores the object on the server and in the cache. */
  put<T extends KubeObject>(ref: ResourceRef<T>, object: T): T {
    this.store(ref, object);
    this.seen.put(ref, object);
    return object;
  }

  /** Stores the object on the server only. */
  store<T extends KubeObject>(ref: ResourceRef<T>, object: T): void {
    this.#stored.set(`${ref.kind} ${objectKey(object)}`, object);
  }

  /** Changes the object as another client would: on the server only. */
  edit<T extends KubeObject>(ref: ResourceRef<T>, key: ObjectKey, change: (object: T) => T): void {
    const object = this.stored(ref, key);
    if (!object) throw newNotFound(ref, key);
    const next = change(deepCopy(object));
    this.store(ref, { ...next, metadata: { ...next.metadata, resourceVersion: String(++this.#version) } });
  }

  /** Updates the cache to the server's objects of the kind. */
  sync<T extends KubeObject>(ref: ResourceRef<T>): void {
    const stored = this.all(ref);
    const keys = new Set(stored.map(objectKey));
    for (const one of this.seen.informerFor(ref).list())
      if (!keys.has(objectKey(one))) this.seen.remove(ref, objectKey(one));
    for (const one of stored) this.seen.put(ref, one);
  }

  /** Returns the server's objects of the kind, by name. */
  all<T extends KubeObject>(ref: ResourceRef<T>): T[] {
    const found = [...this.#stored].filter(([key]) => key.startsWith(`${ref.kind} `));
    return found.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object as T);
  }

  /** Removes the object from the server only. */
  take(ref: ResourceRef, key: ObjectKey): void {
    this.#stored.delete(`${ref.kind} ${key}`);
  }

  stored<T extends KubeObject>(ref: ResourceRef<T>, key: ObjectKey): T | undefined {
    return this.#stored.get(`${ref.kind} ${key}`) as T | undefined;
  }

  /**
   * Returns the maximum number of requests in one turn of the event loop, where each takes the process a
   * millisecond.
   */
  async maxAskedInOneTurn(work: () => Promise<unknown>): Promise<number> {
    const { clock } = this;
    clock.monotonic = () => this.asked.length;
    let [most, before, over] = [0, this.asked.length, false];
    const count = () => {
      most = Math.max(most, this.asked.length - before);
      before = this.asked.length;
      if (!over) setImmediate(count);
    };
    setImmediate(count);
    await work();
    count();
    over = true;
    return most;
  }

  names(ref: ResourceRef): string[] {
    return this.all(ref).map(({ metadata }) => metadata.name);
  }

  #client(): Client {
    const resource = (ref: ResourceRef) => {
      const find = async (verb: string, name: string, namespace?: string, subresource = '') => {
        this.asked.push(`${verb} ${ref.kind} ${name}`);
        this.#rights?.require({ verb: verbOf(verb), ref, name, subresource });
        const error = this.refuse(verb, name);
        if (error) throw error;
        const id = `${ref.kind} ${namespace ? `${namespace}/` : ''}${name}`;
        const object = this.#stored.get(id);
        if (!object) throw newNotFound(ref, name);
        return { id, object };
      };
      const keep = (id: string, next: KubeObject) => {
        const { deletionTimestamp, finalizers = [], name } = next.metadata;
        // A namespace has some of its finalizers in its spec; a pod waits for its node agent.
        const { spec } = next as { spec?: { finalizers?: string[] } };
        const held = [...finalizers, ...(spec?.finalizers ?? [])];
        const ends = deletionTimestamp !== undefined && held.length === 0 && ref.kind !== 'Pod';
        if (!ends) return void this.#stored.set(id, next);
        this.#stored.delete(id);
        this.gone.set(name, next);
      };
      const write = (verb: string) => async (next: KubeObject) => {
        const { name, namespace } = next.metadata;
        const { id, object } = await find(verb, name, namespace, subresourceOf(verb));
        if (next.metadata.resourceVersion !== object.metadata.resourceVersion)
          throw newConflict(ref, name, 'it has changed');
        const [{ status }, said] = [object as WithStatus, next as WithStatus];
        // A status update changes nothing but the status, and other updates do not change it.
        const written = verb === 'updateStatus' ? { ...object, status: said.status } : { ...next, status };
        const whole = verb === 'approval' || verb === 'finalize' ? next : written;
        const metadata = { ...whole.metadata, resourceVersion: String(++this.#version) };
        const kept = deepCopy({ ...whole, metadata });
        keep(id, kept);
        return kept;
      };
      const create = async (draft: Draft<KubeObject>) => {
        const { generateName = '', name = `${generateName}${++this.#made}` } = draft.metadata;
        this.asked.push(`create ${ref.kind} ${name}`);
        this.#rights?.requireCreate(ref, draft as Partial<KubeObject>, name);
        const error = this.refuse('create', name);
        if (error) throw error;
        const added = { name, uid: `uid-${this.#made}-${name}`, resourceVersion: String(++this.#version) };
        const metadata = { creationTimestamp: at(0), ...draft.metadata, ...added };
        const object = deepCopy({ ...draft, metadata }) as KubeObject;
        const id = `${ref.kind} ${objectKey(object)}`;
        if (this.#stored.has(id)) throw newAlreadyExists(ref, name);
        this.#stored.set(id, object);
        return object;
      };
      const answers = {
        create,
        get: async (name: string, namespace?: string) => (await find('get', name, namespace)).object,
        update: write('update'),
        patch: async (name: string, namespace: string, type: PatchType, body: unknown, part = '') => {
          const { id, object } = await find('patch', name, namespace, part);
          if (type !== 'strategic' && type !== 'merge')
            throw new Error(`there is no patch of type ${type} here`);
          const next = (
            type === 'strategic'
              ? applyStrategicPatch(object as never, body as never, untyped)
              : applyMergePatch(object, body)
          ) as KubeObject;
          const { uid, resourceVersion } = object.metadata;
          if (next.metadata.resourceVersion !== resourceVersion || next.metadata.uid !== uid)
            throw newConflict(ref, name, 'it has changed');
          const metadata = { ...next.metadata, resourceVersion: String(++this.#version) };
          // A patch of the status changes nothing else, and other patches do not change the status.
          const { status } = object as WithStatus;
          const whole =
            part === 'status' ? { ...object, status: (next as WithStatus).status } : { ...next, status };
          keep(id, { ...whole, metadata });
          return { ...whole, metadata };
        },
        updateStatus: write('updateStatus'),
        updateSubresource: (next: KubeObject, subresource: string) => write(subresource)(next),
        list: async ({ namespace }: { namespace?: string } = {}) => {
          this.asked.push(`list ${ref.kind}`);
          this.#rights?.require({ verb: 'list', ref, name: '' });
          return {
            metadata: {},
            items: this.all(ref).filter(({ metadata }) => !namespace || metadata.namespace === namespace),
          };
        },
        delete: async (name: string, namespace?: string, options: DeleteOptions = {}) => {
          const { id, object } = await find('delete', name, namespace);
          const { uid, resourceVersion } = object.metadata;
          const wanted = { uid, resourceVersion, ...options.preconditions };
          if (wanted.uid !== uid || wanted.resourceVersion !== resourceVersion)
            throw newConflict(ref, name, 'it is another by now');
          if (options.gracePeriodSeconds === 0) {
            this.#stored.delete(id);
            this.gone.set(name, object);
            return;
          }
          const finalizer = { Foreground: ['foregroundDeletion'], Orphan: ['orphan'], Background: [] }[
            options.propagationPolicy ?? 'Background'
          ];
          const finalizers = [...(object.metadata.finalizers ?? []), ...finalizer];
          keep(id, { ...object, metadata: { ...object.metadata, deletionTimestamp: at(0), finalizers } });
        },
      };
      const answered = ([verb, carryOut]: [string, (...given: never[]) => Promise<unknown>]) => [
        verb,
        async (...given: never[]) => {
          const answer = await carryOut(...given);
          if (this.loses(verb)) throw new Error(`the connection broke after ${verb} ${ref.kind}`);
          return answer;
        },
      ];
      return Object.fromEntries(Object.entries(answers).map(answered));
    };
    return { resource } as unknown as Client;
  }
}

/** Returns the verb of the request that a method of the client sends. */
const verbOf = (method: string) => (['get', 'patch', 'delete'].includes(method) ? method : 'update');

/** Returns the subresource that a method of the client writes; '' for the object itself. */
const subresourceOf = (method: string) =>
  ({ update: '', updateStatus: 'status' })[method as 'update' | 'updateStatus'] ?? method;
