/**
 * Times at which bootstrap tokens and CertificateSigningRequests are deleted, and objects that are never
 * deleted.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { certificateSigningRequestResource } from '../../../../src/api/certificates/v1/certificate-signing-request.ts';
import {
  type PodCertificateRequest,
  podCertificateRequestResource,
} from '../../../../src/api/certificates/v1/pod-certificate-request.ts';
import { type Secret, secretResource } from '../../../../src/api/core/v1/secret.ts';
import type { ObjectMeta } from '../../../../src/apimachinery/meta.ts';
import { csrCleaner } from '../../../../src/controllers/certificates/csr-cleaner.ts';
import { podCertificateCleaner } from '../../../../src/controllers/certificates/pod-certificate-cleaner.ts';
import { remainingLife, tokenCleaner } from '../../../../src/controllers/certificates/token-cleaner.ts';
import { at, meta, start } from '../objects.ts';
import { ScriptedWorld } from '../scripted-world.ts';
import { request } from './csr-requests.ts';

const hour = 3600 * 1000;
const bootstrap = 'bootstrap.kubernetes.io/token';
const token = (expiration?: string, over: Partial<ObjectMeta> = {}, type = bootstrap): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: meta('t', { namespace: 'kube-system', ...over }),
  type,
  data: expiration === undefined ? {} : { expiration: Buffer.from(expiration).toString('base64') },
});
const key = 'kube-system/t';

describe('a bootstrap token', () => {
  it('is valid until its expiration, and forever without one; an invalid expiration counts as expired', () => {
    assert.equal(remainingLife(token(at(60)), start), 60_000);
    assert.equal(remainingLife(token(at(60)), start + 61_000), 0);
    assert.equal(remainingLife(token('tomorrow'), start), 0);
    assert.equal(remainingLife(token(), start), undefined);
    assert.equal(remainingLife({ ...token(), data: undefined }, start), undefined);
  });

  it('is deleted when it expires', async () => {
    const world = new ScriptedWorld(tokenCleaner);
    world.put(secretResource, token(at(60)));
    assert.deepEqual(await world.reconcile(key), { requeueAfter: 60_000 });
    await world.clock.advance(59_999);
    assert.deepEqual(await world.reconcile(key), { requeueAfter: 1 });
    await world.clock.advance(1);
    assert.equal(await world.reconcile(key), undefined);
    assert.deepEqual(world.names(secretResource), []);
    assert.equal(await world.reconcile(key), undefined, 'it is gone by now');
  });

  const kept: [string, Secret, string][] = [
    ['without a time', token(), key],
    ['that is a secret of another type', token(at(-1), {}, 'Opaque'), key],
    ['in another namespace', token(at(-1), { namespace: 'default' }), 'default/t'],
    ['that is being deleted', token(at(-1), { deletionTimestamp: at(0) }), key],
  ];
  for (const [title, secret, of] of kept)
    it(`is kept if it is one ${title}`, async () => {
      const world = new ScriptedWorld(tokenCleaner);
      world.put(secretResource, secret);
      assert.equal(await world.reconcile(of), undefined);
      assert.deepEqual(world.asked, []);
    });

  it('is kept if it got a later expiration in the meantime', async () => {
    const world = new ScriptedWorld(tokenCleaner);
    world.put(secretResource, token(at(-1)));
    world.store(secretResource, token(at(60), { resourceVersion: '2' }));
    await assert.rejects(world.reconcile(key), /another by now/);
    assert.deepEqual(world.names(secretResource), ['t']);
  });

  it('is the only Secret that is reconciled when it changes', async () => {
    const world = new ScriptedWorld(tokenCleaner);
    assert.deepEqual(world.keysOf(secretResource, token()), [key]);
    assert.deepEqual(world.keysOf(secretResource, token(at(1), {}, 'Opaque')), []);
    assert.deepEqual(world.keysOf(secretResource, token(at(1), { namespace: 'default' })), []);
    assert.equal(await world.reconcile('kube-system/none'), undefined);
  });
});

describe('a request for the certificate of a pod', () => {
  const kind = podCertificateRequestResource;
  const asked = (over: Partial<ObjectMeta> = {}) =>
    ({ kind: kind.kind, metadata: meta('r', { namespace: 'default', ...over }) }) as PodCertificateRequest;

  it('is deleted after a quarter of an hour', async () => {
    const world = new ScriptedWorld(podCertificateCleaner);
    world.put(kind, asked());
    assert.deepEqual(world.keysOf(kind, asked()), ['default/r']);
    assert.deepEqual(await world.reconcile('default/r'), { requeueAfter: hour / 4 });
    await world.clock.advance(hour / 4 - 1);
    assert.deepEqual(await world.reconcile('default/r'), { requeueAfter: 1 });
    await world.clock.advance(1);
    assert.equal(await world.reconcile('default/r'), undefined);
    assert.deepEqual(world.names(kind), []);
  });

  it('stays if it is another one of its name, or is being deleted', async () => {
    const world = new ScriptedWorld(podCertificateCleaner);
    assert.equal(await world.reconcile('default/r'), undefined);
    await world.clock.advance(hour);
    world.put(kind, asked());
    world.store(kind, asked({ uid: 'another' }));
    await assert.rejects(world.reconcile('default/r'), /another/);
    world.put(kind, asked({ deletionTimestamp: at(0) }));
    assert.equal(await world.reconcile('default/r'), undefined);
    assert.deepEqual(world.names(kind), ['r']);
  });
});

describe('a request for a certificate', () => {
  const kind = certificateSigningRequestResource;
  const asked = (over: Partial<ObjectMeta> = {}) => {
    const one = request();
    return { ...one, metadata: { ...one.metadata, namespace: undefined, ...over } };
  };

  it('is deleted after a day without a decision', async () => {
    const world = new ScriptedWorld(csrCleaner);
    world.put(kind, asked());
    assert.deepEqual(world.keysOf(kind, asked()), ['r']);
    assert.deepEqual(await world.reconcile('r'), { requeueAfter: 24 * hour });
    await world.clock.advance(24 * hour - 1);
    assert.deepEqual(await world.reconcile('r'), { requeueAfter: 1 });
    await world.clock.advance(1);
    assert.equal(await world.reconcile('r'), undefined);
    assert.deepEqual(world.names(kind), []);
  });

  it('stays if it was decided in the meantime, is being deleted, or no longer exists', async () => {
    const world = new ScriptedWorld(csrCleaner);
    assert.equal(await world.reconcile('r'), undefined);
    world.put(kind, asked());
    await world.clock.advance(24 * hour);
    world.store(kind, asked({ resourceVersion: '2' }));
    await assert.rejects(world.reconcile('r'), /another by now/);
    assert.deepEqual(world.names(kind), ['r']);
    world.put(kind, asked({ deletionTimestamp: at(0) }));
    assert.equal(await world.reconcile('r'), undefined);
    assert.deepEqual(world.names(kind), ['r']);
  });
});
