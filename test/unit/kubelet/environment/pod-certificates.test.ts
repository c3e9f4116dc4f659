/** Certificates of pods on a node: requests, answers, renewals, and signers that refuse or do not answer. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { PodCertificateRequest } from '../../../../src/api/certificates/v1/pod-certificate-request.ts';
import type { Pod } from '../../../../src/api/core/v1/pod/pod.ts';
import { silentLogger } from '../../../../src/base/log.ts';
import { rfc3339 } from '../../../../src/base/time.ts';
import type { Client, ClientWatchOptions } from '../../../../src/client/client.ts';
import { pemText } from '../../../../src/formats/pem.ts';
import {
  advanced,
  type CertificateState,
  metricState,
  needsRequest,
} from '../../../../src/kubelet/environment/plan/pod-certificate.ts';
import { certificateSources, PodCertificates } from '../../../../src/kubelet/environment/pod-certificates.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { condition } from '../../../fixtures/pod-certificate-signer.ts';
import { makePod } from '../builders.ts';

const [minute, hour] = [60_000, 3_600_000];
const leaf = pemText('CERTIFICATE', Buffer.from('leaf'));
const authority = pemText('CERTIFICATE', Buffer.from('authority'));
const issued = (now: number) => ({
  conditions: [condition('Issued')],
  certificateChain: `text\n${leaf}more text\n${authority}`,
  beginRefreshAt: rfc3339(now + 30 * minute),
  notAfter: rfc3339(now + hour),
});
const projection = {
  signerName: 'a.b/c',
  keyType: 'ED25519',
  keyPath: 'key',
  userAnnotations: { 'a.b/c': 'd' },
};
const podWith = (uid: string, ...certificates: object[]) => {
  const sources = certificates.map((podCertificate) => ({ podCertificate }));
  return makePod({ volumes: [{ name: 'v', projected: { sources } }], serviceAccountName: 'sa' }, { uid });
};

describe('the course of a certificate', () => {
  const pending = { name: 'r', key: 'k', since: 0, wasSeen: false };
  const found = (status: object = {}) => ({ metadata: { name: 'r' }, status }) as PodCertificateRequest;

  it('waits for a request that the watch does not show yet, for ten minutes', () => {
    const state: CertificateState = { pending };
    assert.equal(advanced(state, undefined, 10 * minute, 0), state);
    assert.deepEqual(advanced(state, undefined, 10 * minute + 1, 0), { idleUntil: minute });
    assert.equal(needsRequest(state, hour), false);
  });

  it('begins again when a request that the watch has shown is deleted, at most once a minute', () => {
    const seen = advanced({ pending }, found(), 1, 0);
    assert.deepEqual(seen, { pending: { ...pending, wasSeen: true } });
    assert.equal(advanced(seen, found(), 2, 0), seen);
    const lost = advanced(seen, undefined, 3, 0);
    assert.deepEqual(lost, { idleUntil: minute });
    assert.deepEqual([needsRequest(lost, minute - 1), needsRequest(lost, minute)], [false, true]);
  });

  it('has the certificates of the answer without the text between them, and is renewed after a delay', () => {
    const { held } = advanced({ pending }, found(issued(0)), 1, 7);
    const refreshAt = 30 * minute + 7;
    assert.deepEqual(held, { key: 'k', chain: leaf + authority, refreshAt, notAfter: hour });
    const state = held ? { held } : {};
    assert.deepEqual([needsRequest(state, refreshAt - 1), needsRequest(state, refreshAt)], [false, true]);
  });

  it('ends with a refusal, and keeps a certificate that it has', () => {
    const held = { key: 'k', chain: 'c', refreshAt: 1, notAfter: 2 };
    const refused = found({ conditions: [condition('Denied', 'No', 'never')] });
    const state = advanced({ pending, held }, refused, 1, 0);
    const refusal = { type: 'Denied', request: 'r', reason: 'No', message: 'never' };
    assert.deepEqual(state, { held, refusal });
    assert.equal(needsRequest(state, hour), false);
  });

  it('has a state in metrics', () => {
    const held = { key: 'k', chain: 'c', refreshAt: 0, notAfter: hour };
    const refusal = { type: 'Failed', request: 'r', reason: '', message: '' } as const;
    assert.equal(metricState({ pending }, 0), 'not_yet_issued');
    assert.equal(metricState({ held }, 10 * minute), 'fresh');
    assert.equal(metricState({ held }, 10 * minute + 1), 'overdue_for_refresh');
    assert.equal(metricState({ held }, hour + 1), 'expired');
    assert.equal(metricState({ held, refusal }, 0), 'failed');
  });
});

describe('the certificates of a node', () => {
  let clock: FakeClock;
  let created: PodCertificateRequest[];
  let watches: ClientWatchOptions[];
  let send: (event: object) => void;
  let told: string[];
  let events: string[];
  let failure: Error | undefined;
  let keys: number;
  let certificates: PodCertificates;

  const make = () => {
    const made = new PodCertificates({
      ...{ client: clientOf(), clock, random: { next: () => 0, uuid: () => 'u' }, log: silentLogger },
      ...{ nodeName: 'n1', node: () => ({ metadata: { name: 'n1', uid: 'node-uid' } }) as never },
      events: { event: (_about, _type, reason, message) => void events.push(`${reason} ${message}`) },
      newKey: async () => ({ key: `key-${++keys}\n`, request: 'cmVxdWVzdA==' }),
    });
    made.onChange = (uid) => told.push(uid);
    return made;
  };
  const clientOf = () =>
    ({
      resource: () => ({
        get: async (name: string) => ({ metadata: { name, uid: `uid-of-${name}` } }),
        create: async (request: PodCertificateRequest) => {
          if (failure) throw failure;
          const { namespace } = request.metadata;
          const metadata = { ...request.metadata, namespace, name: `req-${created.length + 1}` };
          created.push({ ...request, metadata });
          return { ...request, metadata };
        },
        list: async () => ({ items: [], metadata: { resourceVersion: '5' } }),
        watch: (options: ClientWatchOptions) => eventsOf(options),
      }),
    }) as unknown as Client;
  async function* eventsOf(options: ClientWatchOptions): AsyncIterable<unknown> {
    watches.push(options);
    while (!options.signal.aborted) {
      const next = Promise.withResolvers<unknown>();
      options.signal.addEventListener('abort', () => next.resolve(undefined));
      send = (event) => next.resolve(event);
      const event = await next.promise;
      if (event) yield event;
    }
  }
  beforeEach(() => {
    [created, watches, told, events, failure, keys] = [[], [], [], [], undefined, 0];
    clock = new FakeClock(0);
    certificates = make();
  });
  const turns = async () => {
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  let version = 5;
  /** Sends the request with this status, or its deletion. */
  const answer = async (index: number, status?: object, type = 'MODIFIED') => {
    const request = created[index] ?? assert.fail('no such request');
    const metadata = { ...request.metadata, resourceVersion: String(++version) };
    send({ type, object: { ...request, metadata, ...(status && { status }) } });
    await turns();
  };
  const get = (pod: Pod, index = 0) =>
    certificates.get(pod, certificateSources(pod)[index] ?? assert.fail('no source'));
  const versionOf = (pod: Pod) => certificates.version(pod, certificateSources(pod)[0] ?? assert.fail());
  const notYet = /^Error: credential bundle is not issued yet$/;
  const begun = async (pod: Pod) => {
    certificates.observe(pod);
    await turns();
    await assert.rejects(get(pod), notYet);
    return pod;
  };

  it('are requested for the pod, its account and its node', async () => {
    await begun(podWith('one', projection));
    assert.deepEqual(created[0]?.metadata.ownerReferences, [
      { apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'one' },
    ]);
    assert.deepEqual(created[0]?.spec, {
      ...{ signerName: 'a.b/c', podName: 'web', podUID: 'one', nodeName: 'n1', nodeUID: 'node-uid' },
      ...{ serviceAccountName: 'sa', serviceAccountUID: 'uid-of-sa', stubPKCS10Request: 'cmVxdWVzdA==' },
      ...{ maxExpirationSeconds: 86_400, unverifiedUserAnnotations: { 'a.b/c': 'd' } },
    });
    certificates.close();
  });

  it('are requested once, however often a volume asks, while the signer does not answer', async () => {
    const pod = await begun(podWith('one', projection));
    await answer(0);
    for (let attempt = 0; attempt < 3; attempt++) await assert.rejects(get(pod), notYet);
    assert.equal(created.length, 1);
    assert.deepEqual(told, []);
    // The cleaner deletes the request, and the next one has another key.
    await clock.advance(15 * minute);
    await answer(0, undefined, 'DELETED');
    assert.deepEqual(told, ['one']);
    await assert.rejects(get(pod), notYet);
    assert.deepEqual([created.length, keys], [2, 2]);
    certificates.close();
  });

  it('of two calls at the same time have one request', async () => {
    const pod = podWith('one', projection);
    certificates.observe(pod);
    await turns();
    await Promise.allSettled([get(pod), get(pod)]);
    assert.equal(created.length, 1);
    certificates.close();
  });

  it('wake the pod once they are issued, and are renewed with another key', async () => {
    const pod = await begun(podWith('one', projection));
    const before = versionOf(pod);
    await answer(0, issued(0));
    assert.deepEqual(told, ['one']);
    assert.notEqual(versionOf(pod), before);
    const first = { key: 'key-1\n', chain: leaf + authority };
    assert.deepEqual(await get(pod), { ...first, renewAt: 30 * minute });
    await clock.advance(30 * minute);
    // The next warning is due ten minutes later, if the signer does not answer.
    assert.deepEqual(await get(pod), { ...first, renewAt: 40 * minute });
    assert.equal(created.length, 2);
    await answer(1, issued(30 * minute));
    assert.deepEqual(await get(pod), { ...first, key: 'key-2\n', renewAt: 60 * minute });
    assert.deepEqual(events, []);
    certificates.close();
  });

  it('stay while their renewal is late, with a warning, and another one once they have expired', async () => {
    const pod = await begun(podWith('one', projection));
    await answer(0, issued(0));
    await clock.advance(30 * minute);
    await get(pod);
    await clock.advance(10 * minute);
    assert.equal((await get(pod)).renewAt, hour);
    assert.deepEqual(events, ['CertificateOverdueForRefresh PodCertificate refresh overdue']);
    await clock.advance(20 * minute);
    assert.deepEqual(await get(pod), { key: 'key-1\n', chain: leaf + authority, renewAt: undefined });
    assert.equal(events[1], 'CertificateExpired PodCertificate expired');
    assert.equal(events.length, 2);
    certificates.close();
  });

  it('of a signer that refuses are not requested again', async () => {
    const pod = await begun(podWith('one', projection));
    await answer(0, { conditions: [condition('Denied', 'No', 'not "you"')] });
    assert.deepEqual(events, [
      'Denied PodCertificateRequest shop/req-1 was denied, reason="No", message="not \\"you\\""',
    ]);
    assert.deepEqual(told, ['one']);
    for (let attempt = 0; attempt < 2; attempt++)
      await assert.rejects(get(pod), {
        message: 'PodCertificateRequest was permanently denied: reason="No" message="not \\"you\\""',
      });
    assert.equal(created.length, 1);
    certificates.close();
  });

  it('stay unchanged if their renewal is refused', async () => {
    const pod = await begun(podWith('one', projection));
    await answer(0, issued(0));
    await clock.advance(30 * minute);
    await get(pod);
    await answer(1, { conditions: [condition('Failed', 'Broken', 'no disk')] });
    assert.equal((await get(pod)).key, 'key-1\n');
    assert.deepEqual(events, [
      'Failed PodCertificateRequest shop/req-2 failed, reason="Broken", message="no disk"',
    ]);
    certificates.close();
  });

  it('say why they cannot be requested; a renewal is tried again after a minute', async () => {
    const pod = podWith('one', projection);
    certificates.observe(pod);
    failure = new Error('away');
    await assert.rejects(get(pod), /^Error: while creating initial PodCertificateRequest: away$/);
    failure = undefined;
    await assert.rejects(get(pod), notYet);
    await answer(0, issued(0));
    await clock.advance(30 * minute);
    failure = new Error('away');
    assert.equal((await get(pod)).renewAt, 31 * minute);
    assert.equal(created.length, 1);
    certificates.close();
  });

  it('are requested anew by an agent that was restarted before the answer', async () => {
    const pod = await begun(podWith('one', projection));
    certificates.close();
    certificates = make();
    await begun(pod);
    assert.equal(created.length, 2);
    // The key of the first request is lost, so its certificate is of no use.
    await answer(0, issued(0));
    await assert.rejects(get(pod), notYet);
    await answer(1, issued(0));
    assert.equal((await get(pod)).key, 'key-2\n');
    certificates.close();
  });

  it('of several sources have a request each, and one watch that ends with the last pod', async () => {
    const pod = podWith('one', projection, { ...projection, signerName: 'a.b/d', keyPath: 'other' });
    certificates.observe(pod);
    certificates.observe(podWith('two', projection));
    certificates.observe(makePod({}, { uid: 'three' }));
    await turns();
    await Promise.allSettled([get(pod, 0), get(pod, 1)]);
    assert.deepEqual(
      created.map(({ spec }) => spec.signerName),
      ['a.b/c', 'a.b/d'],
    );
    assert.deepEqual(
      watches.map(({ fieldSelector }) => fieldSelector),
      ['spec.nodeName=n1'],
    );
    const [family] = certificates.families();
    assert.deepEqual(
      family?.samples.map(({ labels, value }) => [labels?.signer_name, labels?.state, value]),
      [
        ['a.b/c', 'not_yet_issued', 2],
        ['a.b/d', 'not_yet_issued', 1],
      ],
    );
    certificates.forget('one');
    assert.equal(watches[0]?.signal.aborted, false);
    certificates.forget('two');
    assert.equal(watches[0]?.signal.aborted, true);
    await assert.rejects(get(pod), /the pod is no longer followed/);
  });
});
