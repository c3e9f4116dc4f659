/** Pods that use claims, from a list of the server: page by page, and one list at a time for all callers. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../../src/api/core/v1/pod/pod.ts';
import type { Client } from '../../../../src/client/client.ts';
import { LiveClaimUsers } from '../../../../src/controllers/volumes/claim-users.ts';
import { pod } from '../objects.ts';

const user = (name: string, ...claims: string[]): Pod =>
  pod(name, {
    spec: {
      volumes: claims.map((claimName) => ({ name: `v-${claimName}`, persistentVolumeClaim: { claimName } })),
    },
  });

/** A server that answers when the test calls for it. */
function server() {
  const asked: {
    readonly options: unknown;
    readonly answer: (pods: readonly Pod[], more?: string) => void;
  }[] = [];
  const failures: ((error: Error) => void)[] = [];
  const list = (options: unknown) => {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    failures.push(reject);
    asked.push({
      options,
      answer: (items, more) => resolve({ metadata: { ...(more && { continue: more }) }, items }),
    });
    return promise;
  };
  const users = new LiveClaimUsers({ resource: () => ({ list }) } as unknown as Client);
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  return { asked, failures, users, turn };
}
const names = (found: ReadonlyMap<string, readonly Pod[]>) =>
  Object.fromEntries([...found].map(([key, pods]) => [key, pods.map(({ metadata }) => metadata.name)]));

describe('the users of claims', () => {
  it('are read to the last page', async () => {
    const { asked, users, turn } = server();
    const found = users.of('default');
    await turn();
    asked[0]?.answer([user('a', 'c'), user('b', 'c', 'd')], 'next');
    await turn();
    asked[1]?.answer([user('e', 'd')]);
    assert.deepEqual(names(await found), { 'default/c': ['a', 'b'], 'default/d': ['b', 'e'] });
    assert.deepEqual(
      asked.map(({ options }) => options),
      [
        { namespace: 'default', limit: 500 },
        { namespace: 'default', limit: 500, continue: 'next' },
      ],
    );
  });

  it('are read by one list that began after the request, which all waiting callers share', async () => {
    const { asked, users, turn } = server();
    const first = users.of('default');
    await turn();
    const [second, third] = [users.of('default'), users.of('default')];
    const elsewhere = users.of('other');
    await turn();
    assert.equal(asked.length, 2, 'one of each namespace at a time');
    asked[0]?.answer([]);
    asked[1]?.answer([]);
    assert.deepEqual([names(await first), names(await elsewhere)], [{}, {}]);
    await turn();
    assert.equal(asked.length, 3);
    asked[2]?.answer([user('a', 'c')]);
    assert.deepEqual(names(await second), { 'default/c': ['a'] });
    assert.equal(await third, await second);
    const last = users.of('default');
    await turn();
    asked[3]?.answer([]);
    assert.deepEqual(names(await last), {});
  });

  it('are listed again for the next caller after a failure', async () => {
    const { asked, failures, users, turn } = server();
    const first = users.of('default');
    await turn();
    const second = users.of('default');
    failures[0]?.(new Error('no answer'));
    await assert.rejects(first, /no answer/);
    await turn();
    asked[1]?.answer([user('a', 'c')]);
    assert.deepEqual(names(await second), { 'default/c': ['a'] });
  });
});
