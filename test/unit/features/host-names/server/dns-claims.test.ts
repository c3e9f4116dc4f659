/** Paths of a host that a Dns claims and releases, and claims that are rejected. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StatusError } from '../../../../../src/apimachinery/status-error.ts';
import type { Dns } from '../../../../../src/features/host-names/api/dns.ts';
import { dnsClaims } from '../../../../../src/features/host-names/server/dns-claims.ts';

const dns = (host: string, ...paths: string[]) =>
  ({
    metadata: { name: 'd', uid: 'u' },
    spec: { host, paths: paths.map((path) => ({ path })) },
  }) as unknown as Dns;
const claim = (path: string) => `/claims/dns-paths/${path}`;
const plan = (object: Dns, old?: Dns, taken: readonly string[] = []) =>
  dnsClaims.plan(object, old, new Set(taken));
const taking = (...keys: string[]) => keys.map((key) => ({ key: claim(key), owner: 'u' }));

test('a Dns claims its paths, and a change claims the new ones', () => {
  assert.deepEqual(plan(dns('a.x', '/', '/b')), { acquire: taking('a.x/', 'a.x/b'), release: [] });
  assert.deepEqual(plan(dns('a.x', '/b', '/c'), dns('a.x', '/', '/b')), {
    acquire: taking('a.x/c'),
    release: [claim('a.x/')],
  });
  assert.deepEqual(plan(dns('b.x', '/'), dns('a.x', '/')), {
    acquire: taking('b.x/'),
    release: [claim('a.x/')],
  });
  assert.deepEqual(dnsClaims.held(dns('a.x', '/', '/b')), { release: [claim('a.x/'), claim('a.x/b')] });
});

test('a path of another Dns is rejected; a path that belongs to the Dns in the meantime is accepted', () => {
  assert.throws(
    () => plan(dns('a.x', '/', '/b'), undefined, [claim('a.x/b')]),
    (error) =>
      error instanceof StatusError &&
      error.status.code === 422 &&
      /^Dns\.minik8s\.io "d" is invalid: spec\.paths\[1\]\.path: Invalid value: "\/b": another Dns serves a\.x\/b$/.test(
        error.message,
      ),
  );
  assert.deepEqual(plan(dns('a.x', '/b'), dns('a.x', '/b'), [claim('a.x/b')]), { acquire: [], release: [] });
});
