/** Users that the limits of load count as one, since one person may act as all of them. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { serviceAccountUser, type UserInfo } from '../../../src/apiserver/request/user.ts';
import { admin, startTestServer, type TestServerOptions } from '../../fixtures/api-server.ts';

const maps = '/api/v1/namespaces/default/configmaps';

async function start(t: TestContext, options: TestServerOptions = {}) {
  const server = await startTestServer(options);
  t.after(() => server.stop());
  return server;
}

/** Returns the ServiceAccount as a user that may do everything. */
function account(namespace: string, name: string): UserInfo {
  const user = serviceAccountUser(namespace, name);
  return { ...user, groups: [...user.groups, ...admin.groups] };
}

describe('the ServiceAccounts of a namespace', () => {
  it('have together the terms in the selectors of watches that one user may have', async (t) => {
    const server = await start(t);
    const over = new AbortController();
    t.after(() => over.abort());
    const watch = (user: UserInfo, number: number) => {
      const terms = Array.from({ length: 1000 }, (_, index) => `!a${number}-${index}`);
      const path = `${maps}?watch=true&resourceVersion=0&labelSelector=${encodeURIComponent(terms.join())}`;
      const request = new Request(`https://apiserver${path}`, { signal: over.signal });
      return server.app.fetch(request, { user });
    };
    for (let number = 0; number < 50; number++)
      assert.equal((await watch(account('shop', `a${number}`), number)).status, 200);
    const refused = await watch(account('shop', 'last'), 50);
    assert.equal(refused.status, 429, await refused.text());
    for (const other of [account('kube-system', 'a'), account('kube-system', 'b'), admin])
      assert.equal((await watch(other, 51)).status, 200);
  });

  it('have one turn in the queue of YAML texts', async (t) => {
    const queued: string[] = [];
    const readYaml = async (_: string, user: string) => {
      queued.push(user);
      return { value: { metadata: { generateName: 'a-' } }, duplicates: [] };
    };
    const server = await start(t, { readYaml });
    const users = [account('shop', 'a'), account('shop', 'b'), account('kube-system', 'a'), admin];
    for (const user of users) {
      const headers = { 'content-type': 'application/yaml' };
      const answer = await server.call('POST', maps, 'metadata: {}', { user, headers });
      assert.equal(answer.status, 201, answer.text);
    }
    assert.deepEqual(queued, [
      'system:serviceaccounts:shop',
      'system:serviceaccounts:shop',
      'system:serviceaccount:kube-system:a',
      admin.name,
    ]);
  });

  it('have together the connections that one user may have', async (t) => {
    let user = account('shop', 'a');
    const server = await start(t, { authenticate: () => user });
    const counted: string[] = [];
    const belongsTo = (name: string) => counted.push(name) > 2;
    for (const [name, status] of [
      ['a', 429],
      ['b', 429],
      ['c', 200],
    ] as const) {
      user = account('shop', name);
      const headers = { authorization: 'Bearer token' };
      const request = new Request(`https://apiserver${maps}`, { headers });
      assert.equal((await server.app.fetch(request, { belongsTo })).status, status);
    }
    assert.deepEqual([...new Set(counted)], ['system:serviceaccounts:shop']);
  });
});
