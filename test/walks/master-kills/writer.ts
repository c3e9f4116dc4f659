/** Clients that create, change, read and delete ConfigMaps, and record each answer. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Answer, ApiClient, Servers } from './api-client.ts';
import { sharedName } from './check-history.ts';
import type { ReadRecord, Verb, WriteRecord } from './history.ts';

export const namespace = 'kills';
export const path = `/api/v1/namespaces/${namespace}/configmaps`;

/** Milliseconds between two requests of one writer, and before one that follows a failure. */
const restMs = 15;
const againMs = 100;
const updates = 2;
const readShare = 0.2;
const sharedShare = 0.1;

interface ConfigMap {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
  readonly data?: { readonly value?: string };
}

export const revisionOf = ({ metadata }: ConfigMap) => Number(metadata.resourceVersion);

/** Records of all writers of a cluster. */
export class Records {
  readonly writes: WriteRecord[] = [];
  readonly reads: ReadRecord[] = [];
  /** Answers that no client should get. */
  readonly odd: string[] = [];
  acknowledged = 0;
  lastAt = performance.now();
  /** Longest time in milliseconds between two acknowledged writes so far. */
  longestGapMs = 0;

  add(write: WriteRecord): void {
    this.writes.push(write);
    if (write.outcome !== 'acknowledged') return;
    this.acknowledged++;
    this.longestGapMs = Math.max(this.longestGapMs, write.answeredAt - this.lastAt);
    this.lastAt = write.answeredAt;
  }
}

export class Writer {
  readonly #id: string;
  readonly #servers: Servers;
  readonly #records: Records;
  readonly #next: () => number;
  #count = 0;

  constructor(id: string, servers: Servers, records: Records, next: () => number) {
    this.#id = id;
    this.#servers = servers;
    this.#records = records;
    this.#next = next;
  }

  /** Writes until the signal aborts; a request in flight is finished. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#life(`${this.#id}-${this.#count++}`, signal);
      if (this.#next() < sharedShare) await this.#changeShared(signal);
    }
  }

  /**
   * Creates, changes and deletes one object; after a write of unknown outcome it continues with the stored
   * state.
   */
  async #life(name: string, signal: AbortSignal): Promise<void> {
    let revision = await this.#write('create', name, undefined, signal);
    for (let n = 0; n < updates && revision !== undefined; n++) {
      if (this.#next() < readShare) await this.#read(name, signal);
      revision = await this.#write('update', name, revision, signal);
    }
    while (revision !== undefined && !signal.aborted)
      revision = await this.#write('delete', name, revision, signal);
  }

  /** Changes the object of all writers, unless another writer changes it meanwhile. */
  async #changeShared(signal: AbortSignal): Promise<void> {
    const revision = await this.#read(sharedName, signal);
    if (revision !== undefined) await this.#write('update', sharedName, revision, signal);
  }

  /** Resolves to the revision of the object afterwards; undefined if it is absent, or at the end. */
  async #write(
    verb: Verb,
    name: string,
    basedOn: number | undefined,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    if (signal.aborted) return undefined;
    const value = verb === 'delete' ? {} : { value: `${this.#id}.${this.#count++}` };
    const based = basedOn === undefined ? {} : { basedOn };
    const sentAt = performance.now();
    const answer = await this.#send(...requestOf(verb, name, value.value, basedOn));
    const outcome = outcomeOf(answer);
    const map = answer?.body as ConfigMap;
    const revision = outcome === 'acknowledged' && verb !== 'delete' ? { revision: revisionOf(map) } : {};
    const answeredAt = performance.now();
    this.#records.add({ verb, name, ...value, ...based, sentAt, answeredAt, outcome, ...revision });
    if (outcome === 'acknowledged') {
      await pause(restMs);
      return revision.revision;
    }
    await pause(againMs);
    return this.#read(name, signal);
  }

  /** Reads until a master answers. */
  async #read(name: string, signal: AbortSignal): Promise<number | undefined> {
    while (!signal.aborted) {
      const sentAt = performance.now();
      const answer = await this.#send('GET', `${path}/${name}`);
      if (answer?.code === 200 || answer?.code === 404) {
        const revision = answer.code === 200 ? revisionOf(answer.body as ConfigMap) : undefined;
        this.#records.reads.push({ name, sentAt, answeredAt: performance.now(), revision });
        return revision;
      }
      await pause(againMs);
    }
    return undefined;
  }

  /** Resolves to undefined if there is no answer. */
  async #send(method: string, at: string, body?: object): Promise<Answer | undefined> {
    const client: ApiClient = this.#servers.pick();
    const answer = await client.send(method, at, body).catch(() => undefined);
    if (answer === undefined || answer.code >= 500) this.#servers.failed(client);
    if (answer !== undefined && !usual.has(answer.code))
      this.#records.odd.push(
        `${method} ${at} at ${client.url}: ${answer.code} ${JSON.stringify(answer.body)}`,
      );
    return answer;
  }
}

/** Codes that a client may get while masters are disturbed. */
const usual: ReadonlySet<number> = new Set([200, 201, 404, 409, 429, 503, 504]);

function outcomeOf(answer: Answer | undefined): WriteRecord['outcome'] {
  if (answer === undefined || answer.code >= 500) return 'unknown';
  return answer.code < 300 ? 'acknowledged' : 'refused';
}

function requestOf(
  verb: Verb,
  name: string,
  value: string | undefined,
  basedOn: number | undefined,
): [string, string, object] {
  const resourceVersion = basedOn === undefined ? {} : { resourceVersion: String(basedOn) };
  if (verb === 'delete') return ['DELETE', `${path}/${name}`, { preconditions: resourceVersion }];
  const map = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, ...resourceVersion },
    data: { value },
  };
  return verb === 'create' ? ['POST', path, map] : ['PUT', `${path}/${name}`, map];
}
