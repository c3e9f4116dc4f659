/**
 * Lists the pods of a namespace from the server, by the claims that they use. A list always begins after the
 * request for it. Callers that request it while a list is running share the next list: thousands of claims
 * may be deleted at once.
 */
import { type Pod, podResource } from '../../api/core/v1/pod/pod.ts';
import type { ObjectKey } from '../../apimachinery/meta.ts';
import type { Client } from '../../client/client.ts';
import { claimKeysOf } from './pods-by-claim.ts';

export type ClaimUsers = ReadonlyMap<ObjectKey, readonly Pod[]>;

/** Pods per page; a page is read at once. */
const pageSize = 500;

export class LiveClaimUsers {
  readonly #client: Client;
  /** Last list that was begun, and the one that follows it, by namespace. */
  readonly #running = new Map<string, Promise<unknown>>();
  readonly #next = new Map<string, Promise<ClaimUsers>>();

  constructor(client: Client) {
    this.#client = client;
  }

  of(namespace: string): Promise<ClaimUsers> {
    const waiting = this.#next.get(namespace);
    if (waiting) return waiting;
    const before = this.#running.get(namespace) ?? Promise.resolve();
    const next = before.then(() => this.#begin(namespace));
    this.#next.set(namespace, next);
    return next;
  }

  #begin(namespace: string): Promise<ClaimUsers> {
    this.#next.delete(namespace);
    const users = this.#list(namespace);
    const running = users
      .catch(() => undefined)
      .then(() => {
        if (this.#running.get(namespace) === running) this.#running.delete(namespace);
      });
    this.#running.set(namespace, running);
    return users;
  }

  async #list(namespace: string): Promise<ClaimUsers> {
    const users = new Map<ObjectKey, Pod[]>();
    let token: string | undefined;
    do {
      const page = await this.#client
        .resource(podResource)
        .list({ namespace, limit: pageSize, ...(token && { continue: token }) });
      for (const pod of page.items) addUser(users, pod);
      token = page.metadata.continue;
    } while (token);
    return users;
  }
}

function addUser(users: Map<ObjectKey, Pod[]>, pod: Pod): void {
  for (const key of claimKeysOf(pod)) {
    const known = users.get(key);
    if (known) known.push(pod);
    else users.set(key, [pod]);
  }
}
