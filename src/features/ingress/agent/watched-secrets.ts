/** The Secrets that Ingresses or Gateways name, each watched separately: a node may read no others. */
import { type Secret, secretResource } from '../../../api/core/v1/secret.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/log.ts';
import type { Random } from '../../../base/random.ts';
import type { Client } from '../../../client/client.ts';
import { runReflector } from '../../../client/reflector.ts';

export interface WatchedSecretsOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly onChange: () => void;
}

interface Watched {
  readonly stop: AbortController;
  /** Resolves after the first read. */
  readonly read: PromiseWithResolvers<void>;
  secret: Secret | undefined;
}

/** Maximum number of Secrets that are watched; a node's connection has a limited number of watches. */
const maxWatched = 1000;

export class WatchedSecrets {
  readonly #options: WatchedSecretsOptions;
  readonly #watched = new Map<string, Watched>();

  constructor(options: WatchedSecretsOptions) {
    this.#options = options;
  }

  /** Watches exactly these Secrets, given as NAMESPACE/NAME, up to the limit. */
  watch(keys: Iterable<string>): void {
    const wanted = new Set([...keys].slice(0, maxWatched));
    for (const [key, { stop }] of this.#watched) {
      if (wanted.has(key)) continue;
      stop.abort();
      this.#watched.delete(key);
    }
    for (const key of wanted) if (!this.#watched.has(key)) this.#watched.set(key, this.#start(key));
  }

  /** Resolves when every watched Secret has been read once. */
  async allRead(): Promise<void> {
    await Promise.all([...this.#watched.values()].map(({ read }) => read.promise));
  }

  get(key: string): Secret | undefined {
    return this.#watched.get(key)?.secret;
  }

  close(): void {
    this.watch([]);
  }

  #start(key: string): Watched {
    const { client, clock, random, log, onChange } = this.#options;
    const [namespace = '', name = ''] = key.split('/');
    const watched: Watched = {
      stop: new AbortController(),
      read: Promise.withResolvers<void>(),
      secret: undefined,
    };
    const set = (secret: Secret | undefined) => {
      watched.secret = secret;
      watched.read.resolve();
      onChange();
    };
    const sink = {
      replace: ([first]: readonly Secret[]) => set(first),
      apply: ({ type, object }: { type: string; object: Secret }) =>
        set(type === 'DELETED' ? undefined : object),
    };
    const scope = { namespace, fieldSelector: `metadata.name=${name}` };
    const resource = client.resource(secretResource);
    void runReflector({ resource, scope, sink, clock, random, log, newest: true }, watched.stop.signal);
    return watched;
  }
}
