/** Keeps one object of each kind on the server, whatever the requests did to it, and few others. */
import { collectionOf, type Resource, seedName, seedOf } from './routes.ts';
import type { Sender } from './send.ts';

const json = 'application/json';
const most = 60;

interface Held {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly deletionTimestamp?: string;
  };
}

export class Objects {
  readonly #sender: Sender;
  readonly #resources: readonly Resource[];

  constructor(sender: Sender, resources: readonly Resource[]) {
    this.#sender = sender;
    this.#resources = resources.filter(({ verbs }) => verbs.includes('get') && verbs.includes('create'));
  }

  /**
   * Creates the objects that are missing or being deleted. With `strict`, throws if an object of a kind
   * cannot be created.
   */
  async renew(strict = false): Promise<void> {
    await this.#account();
    await this.#policy();
    for (const resource of this.#resources) {
      const collection = collectionOf(resource, 'default');
      const found = await this.#call('GET', `${collection}/${seedName}`);
      if (found.status === 200) {
        const { metadata } = JSON.parse(found.body.toString()) as Held;
        if (metadata.deletionTimestamp === undefined) continue;
        await this.#remove(resource, metadata.name);
      }
      const made = await this.#call('POST', collection, seedOf(resource));
      if (strict && made.status !== 201)
        throw new Error(`POST ${collection}: ${made.status} ${made.body.toString()}`);
    }
  }

  async thin(): Promise<void> {
    for (const resource of this.#resources) {
      const collection = collectionOf(resource, 'default');
      const { status, body } = await this.#call('GET', collection);
      if (status !== 200) continue;
      const { items } = JSON.parse(body.toString()) as { readonly items: readonly Held[] };
      if (items.length <= most) continue;
      for (const { metadata } of items)
        if (metadata.name !== seedName && !metadata.name.startsWith('kube'))
          await this.#remove(resource, metadata.name);
    }
  }

  /** Creates the ServiceAccount that pods need, since no controller creates it here. */
  async #account(): Promise<void> {
    const path = '/api/v1/namespaces/default/serviceaccounts';
    await this.#call('POST', path, { metadata: { name: 'default' } });
  }

  /** Sets labels by which pods and workloads are checked against every rule. */
  async #policy(): Promise<void> {
    const labels = Object.fromEntries(
      ['audit', 'warn'].map((mode) => [`pod-security.kubernetes.io/${mode}`, 'restricted']),
    );
    const path = '/api/v1/namespaces/default';
    await this.#call('PATCH', path, { metadata: { labels } }, 'application/merge-patch+json');
  }

  async #remove(resource: Resource, name: string): Promise<void> {
    const path = `${collectionOf(resource, 'default')}/${encodeURIComponent(name)}`;
    await this.#call('PATCH', path, { metadata: { finalizers: null } }, 'application/merge-patch+json');
    await this.#call('DELETE', `${path}?gracePeriodSeconds=0&propagationPolicy=Background`);
    if (resource.kind === 'Namespace')
      await this.#call('PUT', `${path}/finalize`, { ...seedOf(resource), spec: { finalizers: [] } });
  }

  #call(method: string, path: string, body?: unknown, type = json) {
    const headers = { accept: json, ...(body !== undefined && { 'content-type': type }) };
    return this.#sender.send({
      method,
      path,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }
}
