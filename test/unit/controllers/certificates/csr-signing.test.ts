/** Status of an approved request: a certificate, or the reason for the failure. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { certificateSigningRequestResource as kind } from '../../../../src/api/certificates/v1/certificate-signing-request.ts';
import { csrSigning } from '../../../../src/controllers/certificates/csr-signing.ts';
import { start } from '../objects.ts';
import { ScriptedWorld } from '../scripted-world.ts';
import { content, joining, type request } from './csr-requests.ts';

const approved = { type: 'Approved', status: 'True', reason: 'AutoApproved' } as const;

function worldWith(asked: unknown, conditions: NonNullable<Parameters<typeof request>[1]> = [approved]) {
  const world = new ScriptedWorld(
    csrSigning({
      read: async (pem) => JSON.parse(pem),
      sign: async (pem, terms) => `${terms.notAfter - start} of ${pem}`,
    }),
  );
  const text = asked === undefined ? 'no request' : JSON.stringify(asked);
  const made = joining({ request: Buffer.from(text).toString('base64'), expirationSeconds: 600 });
  const metadata = { ...made.metadata, namespace: undefined };
  world.put(kind, { ...made, metadata, status: { conditions } });
  return { world, text, statusOf: () => world.stored(kind, 'r')?.status };
}
const levels = (world: ScriptedWorld) => world.log.lines.map(({ message, fields }) => [message, fields]);

test('an approved request gets its certificate and keeps its conditions', async () => {
  const { world, text, statusOf } = worldWith(content());
  assert.equal(await world.reconcile('r'), undefined);
  assert.deepEqual(statusOf(), {
    conditions: [approved],
    certificate: Buffer.from(`600000 of ${text}`).toString('base64'),
  });
  assert.deepEqual(levels(world), [
    ['certificate issued', { request: 'r', signer: 'kubernetes.io/kube-apiserver-client-kubelet' }],
  ]);
});

test('a request that must not be signed gets the condition Failed and keeps its other conditions', async () => {
  for (const [asked, refusal] of [
    [content({ organizations: ['developers'] }), 'subject organization is not system:nodes'],
    [undefined, 'the certificate request cannot be read'],
  ] as const) {
    const { world, statusOf } = worldWith(asked);
    await world.reconcile('r');
    assert.deepEqual(statusOf(), {
      conditions: [
        approved,
        { type: 'Failed', status: 'True', reason: 'SignerValidationFailure', message: refusal },
      ],
    });
    const [[message, fields] = []] = levels(world);
    assert.equal(message, 'certificate request failed');
    assert.deepEqual(fields, {
      request: 'r',
      signer: 'kubernetes.io/kube-apiserver-client-kubelet',
      refusal,
    });
  }
});

test('a request that is not approved or does not exist causes no write', async () => {
  const { world } = worldWith(content(), []);
  await world.reconcile('r');
  await world.reconcile('another');
  assert.deepEqual([world.asked, world.log.lines], [[], []]);
  const late = worldWith(content());
  late.world.take(kind, 'r');
  await late.world.reconcile('r');
  assert.equal(late.statusOf(), undefined);
});

test('a request is reconciled when it changes', () => {
  const { world } = worldWith(content());
  assert.deepEqual(world.keysOf(kind, world.stored(kind, 'r') ?? assert.fail()), ['r']);
});
