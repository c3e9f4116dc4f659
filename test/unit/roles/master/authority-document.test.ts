/** The authorities as nodes watch them, while a rotation goes through its phases. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { replaceable } from '../../../../src/base/current.ts';
import { authorityHash } from '../../../../src/pki/authority-hash.ts';
import { authoritiesOf, type RotationPhase } from '../../../../src/pki/authority-rotation.ts';
import { type Credentials, newAuthority } from '../../../../src/pki/credentials.ts';
import { authorityDocument, watchedAuthorities } from '../../../../src/roles/master/authority-document.ts';
import { AuthorityRotation } from '../../../../src/roles/master/authority-rotation.ts';
import type { Cache } from '../../../../src/storage/cache.ts';
import type { Store } from '../../../../src/storage/store.ts';
import { createMemoryStore } from '../../../fixtures/memory-store.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const [own, next] = [await newAuthority(now), await newAuthority(now)];

const during = (phase: RotationPhase) =>
  authoritiesOf(own, { phase, next, former: authorityHash(own.certificate) });

/** Returns which of the two authorities the document names as trusted, and which as the signer. */
const shown = (text: string) => {
  const { trusted, signer } = JSON.parse(text) as { trusted: string; signer: string };
  const known = [own, next].filter(({ certificate }) => trusted.includes(certificate.trim()));
  return [known.map((one) => (one === own ? 'own' : 'next')), signer === own.certificate ? 'own' : 'next'];
};

test('nodes get the authorities of each phase, and drop the former one only after the master has dropped it', () => {
  const authorities = replaceable(authoritiesOf(own, undefined));
  const authority = replaceable(own.certificate);
  const credentials = { authorities } as unknown as Credentials;
  const [text] = [...watchedAuthorities({ credentials, authority }).values()];
  assert.ok(text);
  const seen: unknown[] = [];
  text.onChange((value) => seen.push(shown(value)));
  assert.deepEqual(shown(text.value), [['own'], 'own']);

  authorities.replace(during('trust'));
  assert.deepEqual(shown(text.value), [['own'], 'own'], 'the master does not trust it yet');
  authority.replace(during('trust').trusted);
  assert.deepEqual(shown(text.value), [['own', 'next'], 'own']);

  authorities.replace(during('issue'));
  assert.deepEqual(shown(text.value), [['own', 'next'], 'next']);

  authorities.replace(during('finish'));
  assert.deepEqual(shown(text.value), [['own', 'next'], 'next'], 'the API server has its former certificate');
  authority.replace(during('finish').trusted);
  assert.deepEqual(shown(text.value), [['next'], 'next']);
  assert.ok(seen.length >= 3);
});

test('a master that missed the phase trust never names a signer that nodes do not trust', () => {
  const authorities = replaceable(authoritiesOf(own, undefined));
  const authority = replaceable(own.certificate);
  const credentials = { authorities } as unknown as Credentials;
  const [text] = [...watchedAuthorities({ credentials, authority }).values()];
  authorities.replace(during('issue'));
  assert.deepEqual(shown(text?.value ?? ''), [['own', 'next'], 'next']);
});

/** A store whose write with that number does not happen: the master is killed before it. */
function failingAt(store: Store, number: number): Store {
  let writes = 0;
  return new Proxy(store, {
    get(target, name: keyof Store) {
      const method = target[name] as (...values: unknown[]) => unknown;
      return async (...values: unknown[]) => {
        if ((name === 'create' || name === 'update') && ++writes === number) throw new Error('killed');
        return method.apply(target, values);
      };
    },
  });
}

const frontPlaces = { authority: '/pki/front-proxy', rotation: '/pki/front-proxy-rotation' };

for (const killedAt of [1, 2, 3, 4, 5, 6])
  test(`both authorities are replaced if the master is killed before write ${killedAt}, and asked again`, async () => {
    const store = failingAt(createMemoryStore(), killedAt);
    const front = await AuthorityRotation.open(store, () => false, frontPlaces);
    const rotation = await AuthorityRotation.open(store, () => false);
    const make = () => newAuthority(now);
    const documents = authorityDocument({
      ...{ rotation, authority: replaceable(own.certificate), now: () => now },
      credentials: { authorities: replaceable(authoritiesOf(own, undefined)) } as unknown as Credentials,
      frontProxy: {
        rotate: async (step) => void (await front.step(step, { nodes: [], own, make })),
      },
    })({ list: () => [] } as unknown as Cache);
    const [document] = [...documents.values()];
    assert.ok(document);
    const ask = async (step: RotationPhase) => {
      const request = new Request(`https://localhost/?step=${step}`, { method: 'POST' });
      const answer = await (document as (request: Request) => Promise<Response>)(request);
      assert.equal(answer.status, 200, await answer.clone().text());
    };
    /** The steps that the command does, from the phase of the cluster's authority. */
    const command = async () => {
      for (const step of ['trust', 'issue'] as const) {
        const { phase } = rotation.record.value ?? {};
        if (phase !== 'issue' && !(phase === 'trust' && step === 'trust')) await ask(step);
      }
      await ask('finish');
    };
    await assert.rejects(command(), /killed/);
    await command();
    assert.deepEqual([rotation.record.value?.phase, front.record.value?.phase], ['finish', 'finish']);
  });
