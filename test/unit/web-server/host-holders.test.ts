import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { oldestHolder } from '../../../src/web-server/host-holders.ts';
import type { Site } from '../../../src/web-server/site.ts';
import { type HeldSites, together } from '../../../src/web-server/web-server.ts';

const ports = { http: 80, https: 443 };
const site = (host: string, port?: number): Site => ({
  ...{ host, notFound: '', routes: [] },
  ...(port !== undefined && { listen: { port, tls: false } }),
});
const front = (sites: readonly Site[], namespace?: string, since = ''): HeldSites => ({
  ...{ sites, certificates: new Map(), wantsTls: false },
  ...(namespace !== undefined && { holderOf: () => ({ namespace, since }) }),
});
const [older, younger] = ['2026-01-01T00:00:00Z', '2026-01-01T00:00:01Z'];

describe('a host of an Ingress and of a route of a Gateway', () => {
  const [ingress, route, elsewhere] = [site('a.test'), site('a.test', 80), site('b.test', 80)];
  const served = (...plans: readonly HeldSites[]) => {
    const { served: all, taken } = together(plans, ports);
    return [all.sites, taken];
  };

  it('is served for the older route if the Ingress is of another namespace', () => {
    const plans = [front([ingress], 'alice', younger), front([route, elsewhere], 'bob', older)];
    assert.deepEqual(served(...plans), [
      [route, elsewhere],
      [['a.test'], []],
    ]);
  });

  for (const [what, namespace, since] of [
    ['the route is of the same namespace', 'alice', older],
    ['the route is younger', 'bob', younger],
    ['both were created in the same second', 'bob', younger],
    ['the host has no route of its own', undefined, older],
  ] as const)
    it(`is served for the Ingress if ${what}`, () => {
      const own = what === 'the route is younger' ? older : younger;
      const plans = [front([ingress], 'alice', own), front([route, elsewhere], namespace, since)];
      assert.deepEqual(served(...plans), [
        [ingress, elsewhere],
        [[], ['a.test']],
      ]);
    });

  it('is served for both on different ports', () => {
    const other = site('a.test', 8080);
    const plans = [front([ingress], 'alice', younger), front([other], 'bob', older)];
    assert.deepEqual(served(...plans), [
      [ingress, other],
      [[], []],
    ]);
  });

  it('belongs to the oldest of its objects', () => {
    const object = (namespace: string, creationTimestamp: string) => ({
      metadata: { namespace, creationTimestamp },
    });
    const objects = [object('a', younger), object('b', older), object('c', younger)];
    assert.deepEqual(oldestHolder(objects), { namespace: 'b', since: older });
    assert.equal(oldestHolder([]), undefined);
  });
});
