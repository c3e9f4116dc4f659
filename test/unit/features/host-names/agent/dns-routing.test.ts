import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { type Service, serviceResource } from '../../../../../src/api/core/v1/service/service.ts';
import { Wake } from '../../../../../src/base/keep-doing.ts';
import { createDnsRouting } from '../../../../../src/features/host-names/agent/dns-routing.ts';
import { dnsResource } from '../../../../../src/features/host-names/api/dns.ts';
import type { DnsServed } from '../../../../../src/features/host-names/api/dns-served.ts';
import { NotServedError } from '../../../../../src/web-server/not-served.ts';
import type { Site } from '../../../../../src/web-server/site.ts';
import { runWebServer } from '../../../../../src/web-server/web-server.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../../../fixtures/recording-logger.ts';
import { ScriptedInformers } from '../../../../fixtures/scripted-informers.ts';
import { makeDns } from './objects.ts';

const service = (clusterIP: string): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'shop', uid: 'web', resourceVersion: '1', creationTimestamp: '' },
  spec: { type: 'ClusterIP', sessionAffinity: 'None', clusterIP, ports: [{ protocol: 'TCP', port: 80 }] },
});

/** One node, whose web server the test controls. */
class Stand {
  readonly informers = new ScriptedInformers();
  readonly clock = new FakeClock();
  readonly events: string[] = [];
  /** Routes that the web server serves; undefined while it is stopped. */
  served: readonly Site[] | undefined;
  /** Number of times that the web server was configured or stopped. */
  looks = 0;
  /** Error of the next configuration. */
  problem: Error | undefined;
  /** Promise that the web server awaits before it applies a configuration. */
  gate = Promise.resolve();
  readonly hostsFile: string;
  readonly routing: ReturnType<typeof createDnsRouting>;
  readonly #stopping = new AbortController();
  readonly #ended: Promise<void>;
  /** Number of status reports. */
  said = 0;
  #looked = Promise.withResolvers<DnsServed>();
  #told = Promise.withResolvers<void>();

  constructor(t: TestContext, { writesHosts = true, hosts = '127.0.0.1\tlocalhost\n' } = {}) {
    const directory = mkdtempSync(join(tmpdir(), 'minik8s-dns-routing-'));
    this.hostsFile = join(directory, 'hosts');
    writeFileSync(this.hostsFile, hosts);
    const tell = async (routes: readonly Site[] | undefined) => {
      this.looks++;
      this.#told.resolve();
      this.#told = Promise.withResolvers();
      await this.gate;
      if (this.problem) throw this.problem;
      this.served = routes;
    };
    const wake = new Wake();
    this.routing = createDnsRouting({
      informers: this.informers,
      services: this.informers.informerFor(serviceResource),
      events: { event: (_about, _type, _reason, message) => void this.events.push(message) },
      wake,
      log: new RecordingLogger(),
      hosts: { path: this.hostsFile, owner: 'test', address: '192.0.2.1' },
      writesHosts,
      nodeName: 'n1',
      clusterDomain: 'cluster.local',
      onState: (state) => {
        this.said++;
        this.#looked.resolve(state);
        this.#looked = Promise.withResolvers();
      },
    });
    const nginx = {
      serve: async ({ sites }: { readonly sites: readonly Site[] }) => {
        await tell(sites);
        return { refused: [], portProblems: [] };
      },
      remove: () => tell(undefined),
    };
    const fronts = [this.routing.front];
    this.#ended = runWebServer(
      { clock: this.clock, nginx, wake, fronts, ports: { http: 80, https: undefined } },
      this.#stopping.signal,
    ).then(() => this.routing.end());
    t.after(async () => {
      await this.stop();
      rmSync(directory, { recursive: true });
    });
  }

  /** Returns the reason that the next pass reports, once the routing waits again. */
  async next(): Promise<string> {
    const { reason } = await this.#looked.promise;
    await this.clock.settle();
    return reason;
  }

  /** Resolves when the web server is configured or stopped. */
  told(): Promise<void> {
    return this.#told.promise;
  }

  async until(said: number): Promise<void> {
    while (this.said < said) await this.#looked.promise;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#ended;
  }

  names(): string[] {
    const lines = readFileSync(this.hostsFile, 'utf8').split('\n');
    return lines.flatMap((line) =>
      line.startsWith('192.0.2.1\t') ? [line.slice('192.0.2.1\t'.length)] : [],
    );
  }

  upstreams(): (string | undefined)[] | undefined {
    return this.served?.flatMap(({ routes }) =>
      routes.map(({ action }) => (action.type === 'proxy' ? action.backends[0] : undefined)),
    );
  }
}

async function withDns(t: TestContext, options = {}): Promise<Stand> {
  const stand = new Stand(t, options);
  assert.equal(await stand.next(), 'NothingToServe');
  const next = stand.next();
  stand.informers.put(dnsResource, makeDns('one', 'b.example', ['/=web:80']));
  assert.equal(await next, 'Serving');
  return stand;
}

describe('Dns objects on a node', () => {
  it('have their names in cluster DNS and in the hosts file, until they are deleted or the node stops', async (t) => {
    const stand = await withDns(t);
    let next = stand.next();
    stand.informers.put(dnsResource, makeDns('two', 'a.example', ['/=web:80']));
    await next;
    assert.deepEqual(stand.names(), ['a.example', 'b.example']);
    assert.deepEqual(stand.routing.hostAddresses('a.example'), ['192.0.2.1']);
    assert.equal(stand.routing.hostAddresses('c.example'), undefined);
    next = stand.next();
    stand.informers.remove(dnsResource, 'shop/two');
    await next;
    assert.deepEqual(stand.names(), ['b.example']);
    assert.equal(stand.routing.hostAddresses('a.example'), undefined);
    await stand.stop();
    assert.equal(readFileSync(stand.hostsFile, 'utf8'), '127.0.0.1\tlocalhost\n');
  });

  it('change the hosts file only if the node has the flag, except for a block of an earlier run', async (t) => {
    const hosts = '127.0.0.1\tlocalhost\n# minik8s begin test\n192.0.2.1\told.example\n# minik8s end test\n';
    const stand = await withDns(t, { writesHosts: false, hosts });
    assert.equal(readFileSync(stand.hostsFile, 'utf8'), '127.0.0.1\tlocalhost\n');
    assert.deepEqual(stand.routing.hostAddresses('b.example'), ['192.0.2.1'], 'pods find it');
  });

  it('do not hide a name of the cluster', async (t) => {
    const stand = await withDns(t);
    for (const host of ['cluster.local', 'kubernetes.default.svc.cluster.local']) {
      const next = stand.next();
      stand.informers.put(dnsResource, makeDns('two', host, ['/=web:80']));
      await next;
      assert.equal(stand.routing.hostAddresses(host), undefined, host);
      assert.deepEqual(stand.names(), ['b.example'], host);
    }
  });

  it('follow the Services that they lead to', async (t) => {
    const stand = await withDns(t);
    assert.deepEqual(stand.upstreams(), [undefined]);
    let next = stand.next();
    stand.informers.put(serviceResource, service('10.96.0.20'));
    await next;
    assert.deepEqual(stand.upstreams(), ['10.96.0.20:80']);
    next = stand.next();
    stand.informers.remove(serviceResource, 'shop/web');
    await next;
    assert.deepEqual(stand.upstreams(), [undefined]);
  });

  it('have a web server only while at least one exists', async (t) => {
    const stand = await withDns(t);
    const next = stand.next();
    stand.informers.remove(dnsResource, 'shop/one');
    assert.equal(await next, 'NothingToServe');
    assert.equal(stand.served, undefined);
    const { looks } = stand;
    stand.informers.put(serviceResource, service('10.96.0.20'));
    await stand.clock.settle();
    assert.equal(stand.looks, looks, 'a Service means nothing without them');
  });

  it('are in the hosts file again within a minute after its block was removed', async (t) => {
    const stand = await withDns(t);
    stand.served = undefined;
    assert.equal(stand.clock.nextIn, 60_000);
    const next = stand.next();
    await stand.clock.advance(60_000);
    assert.equal(await next, 'Serving');
    assert.notEqual(stand.served, undefined);
  });

  for (const problem of [undefined, new Error('not now')]) {
    it(`are read again when one changes during a read that ${problem ? 'fails' : 'succeeds'}`, async (t) => {
      const stand = await withDns(t);
      const gate = Promise.withResolvers<void>();
      Object.assign(stand, { gate: gate.promise, problem });
      const told = stand.told();
      stand.informers.put(dnsResource, makeDns('two', 'a.example', ['/=web:80']));
      await told;
      const { said } = stand;
      stand.informers.put(dnsResource, makeDns('three', 'c.example', ['/=web:80']));
      gate.resolve();
      await stand.until(said + 1);
      stand.problem = undefined;
      // The clock does not move: the second pass needs no time.
      await stand.until(said + 2);
      assert.equal(stand.served?.length, 3);
    });
  }
});

describe('a pass that fails', () => {
  it('is retried with growing delays, which start anew after a success', async (t) => {
    const stand = await withDns(t);
    const waits: (number | undefined)[] = [];
    const look = async (ms: number) => {
      const next = stand.next();
      await stand.clock.advance(ms);
      await next;
      waits.push(stand.clock.nextIn);
    };
    stand.problem = new Error('not now');
    await look(60_000);
    await look(500);
    await look(1000);
    stand.problem = undefined;
    await look(2000);
    stand.problem = new Error('not now');
    await look(60_000);
    assert.deepEqual(waits, [500, 1000, 2000, 60_000, 500]);
  });

  it('is logged once for the same failure, and again after a success', async (t) => {
    const stand = await withDns(t);
    const look = async (problem?: Error) => {
      stand.problem = problem;
      const next = stand.next();
      await stand.clock.advance(stand.clock.nextIn ?? 0);
      return next;
    };
    assert.equal(await look(new NotServedError('PortTaken', 'port 80 is taken')), 'PortTaken');
    assert.equal(await look(new NotServedError('PortTaken', 'port 80 is taken')), 'PortTaken');
    assert.deepEqual(stand.events, ['Dns objects are not served: port 80 is taken']);
    assert.equal(await look(new Error('no engine')), 'RoutingFailed');
    assert.equal(await look(), 'Serving');
    assert.equal(await look(new Error('no engine')), 'RoutingFailed');
    assert.deepEqual(stand.events.slice(1), Array(2).fill('Dns objects are not served: no engine'));
  });
});
