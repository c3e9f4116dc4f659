/** Certificates in the volumes of pods, with the real Docker engine and a signer of the test's own. */
import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import {
  type PodCertificateRequest,
  podCertificateRequestResource as requests,
} from '../../../src/api/certificates/v1/pod-certificate-request.ts';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import type { KeyAndCertificate } from '../../../src/pki/x509.ts';
import { testAuthority } from '../../fixtures/certificates.ts';
import { lockMachine } from '../../fixtures/machine-lock.ts';
import { condition, issuedStatus } from '../../fixtures/pod-certificate-signer.ts';
import { eventually, isReady, type NodeHarness, startNodeHarness } from './node-harness.ts';
import { containerId, inside, shellContainer } from './pod-access.ts';

await lockMachine();

describe('a pod with a certificate', () => {
  let node: NodeHarness;
  let authority: KeyAndCertificate;
  before(async () => {
    authority = await testAuthority();
    node = await startNodeHarness();
    await node.startAgent({ heartbeatMs: 1000 });
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'web' } };
    const made = await node.server.call('POST', '/api/v1/namespaces/default/serviceaccounts', account);
    assert.equal(made.status, 201, made.text);
  });
  after(() => node.close());

  const create = (name: string) => {
    const podCertificate = {
      ...{ signerName: 'a.b/c', keyType: 'ECDSAP256', credentialBundlePath: 'both.pem' },
      ...{ keyPath: 'key.pem', certificateChainPath: 'chain.pem' },
    };
    return node.createPod(name, {
      ...{ serviceAccountName: 'web', automountServiceAccountToken: false },
      volumes: [{ name: 'tls', projected: { sources: [{ podCertificate }], defaultMode: 0o600 } }],
      containers: [
        shellContainer(node, 'exec sleep 1000', { volumeMounts: [{ name: 'tls', mountPath: '/tls' }] }),
      ],
    });
  };
  /** Resolves to the pod's newest request, once it has this many. */
  const requestOf = async (name: string, count = 1) => {
    let found: readonly PodCertificateRequest[] = [];
    await eventually(async () => {
      const { items } = await node.client.resource(requests).list({ fieldSelector: `spec.podName=${name}` });
      found = items;
      assert.equal(items.length, count);
    });
    const pending = found.find(({ status }) => !status?.conditions?.length);
    return pending ?? assert.fail('every request is answered');
  };
  const answer = (request: PodCertificateRequest, status: object) =>
    node.client.resource(requests).updateStatus({ ...request, status });
  const issue = async (request: PodCertificateRequest) =>
    answer(request, await issuedStatus(authority, request, { notBefore: Date.now() }));
  const hasNotStarted = (pod: Pod) =>
    pod.status?.containerStatuses?.every(({ state }) => state?.waiting?.reason === 'ContainerCreating') ??
    false;
  const read = (pod: Pod, file: string) => inside(pod, 'cat', `/tls/${file}`);

  it('starts once it is issued, and has it with its key in memory alone', async () => {
    await create('proven');
    const request = await requestOf('proven');
    await node.waitFor('proven', hasNotStarted);
    await issue(request);
    const pod = await node.waitFor('proven', isReady);
    const [key, chain] = [await read(pod, 'key.pem'), await read(pod, 'chain.pem')];
    assert.equal((await read(pod, 'both.pem')).trim(), `${key.trim()}\n${chain.trim()}`);
    const { publicKey } = new X509Certificate(chain);
    assert.ok(publicKey.equals(createPublicKey(createPrivateKey(key))));
    assert.match(chain, /END CERTIFICATE-----\n-----BEGIN CERTIFICATE/);
    assert.match(await inside(pod, 'stat', '-L', '-c', '%a', '/tls/key.pem'), /^600/);
    assert.match(await inside(pod, 'cat', '/proc/mounts'), /^tmpfs \/tls tmpfs /m);
  });

  it('does not start if the signer denies it, and says why', async () => {
    const starts = () => node.events.filter((event) => event.startsWith('Started ')).length;
    const before = starts();
    await create('denied');
    await answer(await requestOf('denied'), { conditions: [condition('Denied', 'Unknown', 'who are you?')] });
    const why = 'PodCertificateRequest was permanently denied: reason="Unknown" message="who are you?"';
    const failed = `FailedMount MountVolume.SetUp failed for volume "tls" : ${why}`;
    await eventually(async () => assert.ok(node.events.includes(failed), node.events.join('\n')));
    assert.ok(node.events.some((event) => event.startsWith('Denied PodCertificateRequest default/')));
    await node.waitFor('denied', hasNotStarted);
    assert.equal(starts(), before);
  });

  it('starts although the agent is restarted while it waits for the signer', async () => {
    await create('waiting');
    const lost = await requestOf('waiting');
    await node.stopAgent();
    await node.startAgent({ heartbeatMs: 1000 });
    const { items } = await node.client.resource(requests).list({ fieldSelector: 'spec.podName=waiting' });
    assert.ok(items.length >= 1);
    // The key of the first request is lost: its certificate must not start the pod.
    await issue(lost);
    await issue(await requestOf('waiting', 2));
    const pod = await node.waitFor('waiting', isReady);
    const { publicKey } = new X509Certificate(await read(pod, 'chain.pem'));
    assert.ok(publicKey.equals(createPublicKey(createPrivateKey(await read(pod, 'key.pem')))));
  });

  it('keeps its container when the agent is restarted, and gets another certificate', async () => {
    await create('running');
    await issue(await requestOf('running'));
    const before = await node.waitFor('running', isReady);
    const key = await read(before, 'key.pem');
    await node.stopAgent();
    await node.startAgent({ heartbeatMs: 1000 });
    const next = await requestOf('running', 2);
    assert.equal(await read(before, 'key.pem'), key);
    await issue(next);
    await eventually(async () => assert.notEqual(await read(before, 'key.pem'), key));
    assert.equal(containerId(await node.pod('running')), containerId(before));
  });
});
