/**
 * A whole control plane with the machine's clock. Programs of this process on addresses of the loopback
 * network take the place of nodes: the instances of functions.
 */
import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import { type Pod, podResource } from '../../../../../src/api/core/v1/pod/pod.ts';
import type { Draft } from '../../../../../src/apimachinery/meta.ts';
import { isNotFound } from '../../../../../src/apimachinery/status-error.ts';
import type { UserInfo } from '../../../../../src/apiserver/request/user.ts';
import { systemClock } from '../../../../../src/base/clock.ts';
import type { Client } from '../../../../../src/client/client.ts';
import type { ControlPlane } from '../../../../../src/control-plane/control-plane.ts';
import { type Fn, functionResource } from '../../../../../src/features/functions/api/function.ts';
import { functionLabel, instancePort } from '../../../../../src/features/functions/api/function-instance.ts';
import { type Trigger, triggerResource } from '../../../../../src/features/triggers/api/trigger.ts';
import {
  type TriggerEvent,
  triggerEventResource,
} from '../../../../../src/features/triggers/api/trigger-event.ts';
import { admin } from '../../../../fixtures/api-server.ts';
import { createTestPlane } from '../../../../fixtures/control-plane.ts';
import { eventually } from '../../../../fixtures/eventually.ts';
import { createMemoryStore } from '../../../../fixtures/memory-store.ts';

export interface Delivered {
  readonly id: string;
  readonly type: string;
  readonly source: string;
  readonly trigger: string;
  readonly time: string;
  readonly subject?: string;
  readonly data: Record<string, never>;
  readonly input?: unknown;
  readonly headers: Record<string, string | undefined>;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
}

export class World {
  readonly #store = createMemoryStore();
  readonly #ends: (() => Promise<unknown>)[] = [];
  readonly #addresses = new Map<string, string>();
  readonly #first: string;
  #next = 10;
  #plane: ControlPlane | undefined;
  #stop: AbortController | undefined;
  #running: Promise<unknown> = Promise.resolve();

  /** Creates a world whose programs' addresses begin with three numbers such as 127.0.7. */
  constructor(addresses: string) {
    this.#first = addresses;
  }

  get plane(): ControlPlane {
    assert.ok(this.#plane, 'it runs');
    return this.#plane;
  }

  get client(): Client {
    return this.plane.clientOf(admin);
  }

  /** Starts the masters, also again with the stored objects. */
  async start(): Promise<void> {
    const stop = new AbortController();
    const plane = await createTestPlane(systemClock, {
      store: this.#store,
      'python-image': 'python:3',
      'nodejs-image': 'node:1',
      reachesPod: () => true,
      nodeGracePeriodMs: 3_600_000,
    });
    const running = plane.run(stop.signal);
    [this.#plane, this.#stop] = [plane, stop];
    this.#running = Promise.all([running, this.#play(stop.signal)]);
    await Promise.race([plane.ready, running]);
  }

  /** Stops the masters; the programs continue. */
  async halt(): Promise<void> {
    this.#stop?.abort();
    await this.#running;
  }

  async end(): Promise<void> {
    await this.halt();
    for (const end of this.#ends) await end();
  }

  /** Writes through the API server's handler, also while the masters are stopped. */
  async beside(method: string, path: string, body?: unknown): Promise<void> {
    const headers = {
      'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
    };
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    const request = new Request(`http://apiserver${path}`, { method, headers, ...text });
    const answer = await this.plane.server.handlerFor(admin)(request);
    assert.ok(answer.ok, await answer.text());
  }

  /** Compacts the history of the store up to now. */
  async forgetHistory(): Promise<void> {
    await this.#store.compact(await this.#store.currentRevision());
  }

  eventually<T>(
    what: string,
    probe: () => Promise<T | undefined | false> | T | undefined | false,
    within = 60_000,
  ): Promise<T> {
    return eventually(systemClock, what, probe, within);
  }

  /** Creates a callable function, and the program of its instances. */
  async fn(name: string, answer: RequestListener, spec: Partial<Fn['spec']> = {}): Promise<void> {
    const address = `${this.#first}.${this.#next++}`;
    this.#addresses.set(name, address);
    const program = createServer(answer);
    await new Promise<void>((resolve) => program.listen(instancePort, address, resolve));
    this.#ends.push(() => {
      program.closeAllConnections();
      return new Promise((resolve) => program.close(resolve));
    });
    const draft = {
      apiVersion: 'minik8s.io/v1',
      kind: 'Function',
      metadata: { name, namespace: 'default' },
      spec: { image: 'app:1', ...spec },
    };
    const functions = this.client.resource(functionResource);
    await functions.create(draft as unknown as Draft<Fn>);
    // Until then the function has no active version, and a call may fail for that reason.
    await this.eventually(
      `function ${name} can be called`,
      async () => (await functions.get(name, 'default')).status?.activeVersion !== undefined,
    );
  }

  /** Creates a function whose program records its calls and answers with the status that `answer` returns. */
  async noting(name: string, answer: (count: number) => number = () => 200): Promise<Delivered[]> {
    const seen: Delivered[] = [];
    await this.fn(name, (incoming, outgoing) => {
      let text = '';
      incoming.on('data', (chunk) => {
        text += chunk;
      });
      incoming.on('end', () => {
        seen.push({ ...JSON.parse(text || '{}'), headers: incoming.headers });
        outgoing.writeHead(answer(seen.length), { 'content-type': 'application/json' }).end('{"answer":1}');
      });
    });
    return seen;
  }

  async trigger(name: string, spec: object): Promise<Trigger> {
    const draft = {
      apiVersion: 'minik8s.io/v1',
      kind: 'Trigger',
      metadata: { name, namespace: 'default' },
      spec,
    };
    return this.client.resource(triggerResource).create(draft as unknown as Draft<Trigger>);
  }

  status(name: string): Promise<Trigger['status']> {
    return this.client
      .resource(triggerResource)
      .get(name, 'default')
      .then(({ status }) => status);
  }

  async condition(name: string, type: string) {
    return (await this.status(name))?.conditions?.find((one) => one.type === type);
  }

  async events(trigger?: string): Promise<readonly TriggerEvent[]> {
    const { items } = await this.client.resource(triggerEventResource).list({ namespace: 'default' });
    return trigger === undefined ? items : items.filter(({ spec }) => spec.trigger === trigger);
  }

  async call(
    method: string,
    path: string,
    body?: unknown,
    { user = admin, headers = {} }: { user?: UserInfo; headers?: Record<string, string> } = {},
  ): Promise<Answer> {
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const request = new Request(`https://apiserver${path}`, {
      method,
      headers: { ...(text !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(text !== undefined && { body: text }),
    });
    const answer = await this.plane.server.app.fetch(request, { user });
    return { status: answer.status, text: await answer.text() };
  }

  /** Plays a node's part for pods that are instances. */
  async #play(signal: AbortSignal): Promise<void> {
    const seen = new Set<string>();
    while (!signal.aborted) {
      try {
        const pods = this.client.resource(podResource);
        for await (const { type, object } of pods.watch({ signal, labelSelector: functionLabel }))
          if (type === 'ADDED' || type === 'MODIFIED') await this.#playPod(object, seen);
      } catch (error) {
        if (!signal.aborted && !isNotFound(error)) await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  }

  async #playPod({ metadata, status }: Pod, seen: Set<string>): Promise<void> {
    const pods = this.client.resource(podResource);
    const { name, namespace = '', uid, labels, deletionTimestamp } = metadata;
    const address = this.#addresses.get(labels?.[functionLabel] ?? '');
    if (address === undefined) return;
    if (deletionTimestamp) await pods.delete(name, namespace, { gracePeriodSeconds: 0 });
    else if (!seen.has(uid) || status?.podIP !== address) {
      seen.add(uid);
      await pods.patch(name, namespace, 'strategic', { status: running(address) }, 'status');
    }
  }
}

const running = (ip: string) => ({
  phase: 'Running',
  podIP: ip,
  podIPs: [{ ip }],
  conditions: [{ type: 'Ready', status: 'True' }],
  containerStatuses: [
    { name: 'function', ready: true, restartCount: 0, image: 'app:1', imageID: '', state: { running: {} } },
  ],
});
