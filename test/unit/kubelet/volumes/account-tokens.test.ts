/**
 * Tokens of pods: the accounts that they are requested for, their lifetime, and the fallback when no new one
 * is available.
 */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { ServiceAccountTokenProjection } from '../../../../src/api/core/v1/types.gen.ts';
import type { Client } from '../../../../src/client/client.ts';
import { AccountTokens } from '../../../../src/kubelet/volumes/account-tokens.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../../fixtures/recording-logger.ts';
import { makePod } from '../builders.ts';

const minute = 60_000;
const projection = (more: Partial<ServiceAccountTokenProjection> = {}) =>
  ({ path: 'token', ...more }) as ServiceAccountTokenProjection;
const pod = makePod({ serviceAccountName: 'builder' });

describe('the token of a pod', () => {
  let clock: FakeClock;
  let log: RecordingLogger;
  let tokens: AccountTokens;
  /** Requests to the server, and the time by which its clock is ahead. */
  let asked: { readonly of: string; readonly spec: Record<string, unknown> }[];
  let ahead: number;
  let answer: ((spec: { expirationSeconds: number }) => unknown) | undefined;
  beforeEach(() => {
    clock = new FakeClock();
    log = new RecordingLogger();
    asked = [];
    ahead = 0;
    answer = undefined;
    const accounts = {
      createSubresource: (name: string, namespace: string, subresource: string, body: { spec: never }) => {
        const spec = body.spec as { expirationSeconds: number };
        asked.push({ of: `${namespace}/${name}/${subresource}`, spec });
        const expires = new Date(clock.now() + ahead + spec.expirationSeconds * 1000).toISOString();
        const usual = { status: { token: `token ${asked.length}`, expirationTimestamp: expires } };
        return Promise.resolve(answer ? answer(spec) : usual);
      },
    };
    const client = { resource: () => accounts } as unknown as Client;
    tokens = new AccountTokens({ client, clock, log, random: { next: () => 0, uuid: () => '' } });
  });
  const get = async (more: Partial<ServiceAccountTokenProjection> = {}, of = pod) =>
    (await tokens.get(of, projection(more))).token;

  it('is requested for its account, bound to the pod', async () => {
    await get();
    await get({ audience: 'vault', expirationSeconds: 600 }, makePod({}, { name: 'db', uid: 'uid-2' }));
    const reference = (name: string, uid: string) => ({ apiVersion: 'v1', kind: 'Pod', name, uid });
    assert.deepEqual(asked, [
      {
        of: 'shop/builder/token',
        spec: { audiences: [], expirationSeconds: 3600, boundObjectRef: reference('web', 'uid-1') },
      },
      {
        of: 'shop/default/token',
        spec: { audiences: ['vault'], expirationSeconds: 600, boundObjectRef: reference('db', 'uid-2') },
      },
    ]);
  });

  it('is kept until a fifth of its lifetime is left, separately for each audience and lifetime', async () => {
    assert.equal(await get(), 'token 1');
    assert.equal(await get({ expirationSeconds: 3600 }), 'token 1');
    assert.equal(await get({ audience: 'vault' }), 'token 2');
    assert.equal(await get({ expirationSeconds: 600 }), 'token 3');
    await clock.advance(48 * minute - 1);
    assert.equal(await get(), 'token 1');
    await clock.advance(1);
    assert.equal(await get(), 'token 4');
    assert.equal(await get({ audience: 'vault' }), 'token 5');
  });

  it('belongs to one pod, and is removed with the pod', async () => {
    assert.equal(await get(), 'token 1');
    assert.equal(await get({}, makePod({}, { uid: 'uid-2' })), 'token 2');
    tokens.forget('uid-1');
    assert.equal(await get({}, makePod({}, { uid: 'uid-2' })), 'token 2');
    assert.equal(await get(), 'token 3');
  });

  it('is kept while it is valid and no new token is available, and the request is repeated in a minute', async () => {
    await get();
    answer = () => Promise.reject(new Error('away'));
    await clock.advance(50 * minute);
    const kept = await tokens.get(pod, projection());
    assert.deepEqual(kept, { token: 'token 1', renewAt: clock.now() + minute });
    assert.equal(log.of('warn').length, 1);
    await clock.advance(10 * minute - 1);
    assert.equal(await get(), 'token 1');
    await clock.advance(1);
    await assert.rejects(get(), /away/);
  });

  it("is requested at most once a minute if the server's clock is behind", async () => {
    ahead = -2 * 60 * minute;
    const first = await tokens.get(pod, projection());
    assert.equal(first.renewAt, clock.now() + minute);
    assert.equal(await get(), 'token 1');
  });

  for (const [what, found] of [
    ['nothing', undefined],
    ['no status', {}],
    ['no token', { status: { token: '', expirationTimestamp: '2030-01-01T00:00:00Z' } }],
    ['no expiration time', { status: { token: 'x' } }],
    ['an invalid expiration time', { status: { token: 'x', expirationTimestamp: 'soon' } }],
  ] as const)
    it(`is an error if the server answers with ${what}`, async () => {
      answer = () => found;
      await assert.rejects(get(), {
        message: 'the API server answered without a token of the service account builder',
      });
    });
});
