/** Parts of the node agent react to changes of other parts, over the simulated engine. */
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import {
  type PodCertificateRequest,
  podCertificateRequestResource as requests,
} from '../../../src/api/certificates/v1/pod-certificate-request.ts';
import type { HostPort } from '../../../src/api/core/v1/pod/forwarded-port.ts';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { parseDeviceRules } from '../../../src/kubelet/devices/plan/device-rules.ts';
import { testAuthority } from '../../fixtures/certificates.ts';
import { plenty } from '../../fixtures/plenty.ts';
import { issuedStatus } from '../../fixtures/pod-certificate-signer.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { SimulatedRuntime } from '../../fixtures/simulated-runtime.ts';
import { eventually, isReady } from './node-harness.ts';
import { paperNetwork, type SimulatedNode, startSimulatedNode } from './simulated-node.ts';

const pods = '/api/v1/namespaces/default/pods';
const strategic = { headers: { 'content-type': 'application/strategic-merge-patch+json' } };
const cpu = (amount: string) => ({ requests: { cpu: amount }, limits: { cpu: amount } });
const main = (more: object = {}) => ({ name: 'main', image: 'app:1', ...more });

/** An engine whose pulls wait until the test opens the gate. */
class SlowRuntime extends SimulatedRuntime {
  readonly pulling: string[] = [];
  readonly #gate = Promise.withResolvers<void>();

  constructor(images: readonly string[]) {
    super({
      clock: systemClock,
      random: new SeededRandom(1),
      images: new Map(images.map((name) => [name, { present: false }])),
    });
  }

  open(): void {
    this.#gate.resolve();
  }

  override async pullImage(name: string, signal: AbortSignal): Promise<void> {
    this.pulling.push(name);
    await this.#gate.promise;
    return super.pullImage(name, signal);
  }
}

describe('the node agent', () => {
  let node: SimulatedNode;
  beforeEach(async () => {
    node = await startSimulatedNode((name) => (name === 'stubborn' ? 'ignore' : 'exit'));
  });
  afterEach(() => node.close());

  const ready = async () =>
    eventually(async () => assert.equal((await node.condition('Ready')).status, 'True'));
  const exit = async (name: string) => {
    const [id] = await node.running(name);
    node.runtime.exit(id ?? assert.fail(`${name} does not run`), 0);
  };

  it('pulls as many images at once as its setting allows', async () => {
    const names = ['one', 'two', 'three'];
    const runtime = new SlowRuntime(names.map((name) => `${name}:1`));
    node.start({ runtime, maxParallelImagePulls: 2 });
    await ready();
    for (const name of names) await node.createPod(name, { containers: [main({ image: `${name}:1` })] });
    for (const name of names) await node.waitFor(name, ({ status }) => status?.podIP !== undefined);
    await eventually(async () => assert.equal(runtime.pulling.length, 2));
    runtime.open();
    for (const name of names) await node.waitFor(name, isReady);
    assert.equal(runtime.pulling.length, 3);
  });

  it('removes an unused image that it pulled, by its thresholds and by the disk of images', async () => {
    const runtime = new SlowRuntime(['pulled:1']);
    runtime.open();
    node.start({ runtime });
    await ready();
    await node.createPod('web', { containers: [main({ image: 'pulled:1' })] });
    await node.waitFor('web', isReady);
    await node.server.call('DELETE', `${pods}/web?gracePeriodSeconds=0`);
    await eventually(async () => assert.deepEqual(await runtime.usedImages(), new Set()));
    assert.equal((await runtime.listImages()).length, 1);
    await node.stop();
    // The disk of images is used by 60 in 100, the disk of everything else by 50.
    node.usage = { ...plenty, imagefs: { size: 100, available: 40, inodes: 1000, inodesFree: 900 } };
    const imageGc = { highPercent: 55, lowPercent: 45, minAgeMs: 0 };
    node.start({ runtime, imageGc });
    await eventually(async () => assert.deepEqual(await runtime.listImages(), []));
  });

  it('ends no static pod of an earlier agent before it has read the files', async () => {
    const manifests = join(node.dataDir, 'manifests');
    const manifest = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'fixed' },
      spec: { containers: [main()] },
    };
    await mkdir(manifests);
    await writeFile(join(manifests, 'fixed.json'), JSON.stringify(manifest));
    node.start({ podManifestPath: manifests });
    await ready();
    const [container] = await eventuallyRunning('fixed-node-1');
    await node.stop();
    // A file in place of the directory cannot be read as one.
    node.start({ podManifestPath: join(manifests, 'fixed.json') });
    await ready();
    await node.createPod('web');
    await node.waitFor('web', isReady);
    assert.deepEqual(await node.running('fixed-node-1'), [container]);
    await node.stop();
    const empty = join(node.dataDir, 'empty');
    await mkdir(empty);
    node.start({ podManifestPath: empty });
    await eventually(async () => assert.deepEqual(await node.running('fixed-node-1'), []));
  });

  const eventuallyRunning = async (name: string) => {
    let found: readonly string[] = [];
    await eventually(async () => {
      found = await node.running(name);
      assert.equal(found.length, 1);
    });
    return found;
  };

  it('replaces the certificate in a volume when the next one is issued', async () => {
    const authority = await testAuthority();
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'web' } };
    await node.server.call('POST', '/api/v1/namespaces/default/serviceaccounts', account);
    const path = `/apis/${requests.group}/${requests.version}/namespaces/default/${requests.plural}`;
    /** Issues the newest request, once there are this many. */
    const issue = async (count: number) => {
      let newest: PodCertificateRequest | undefined;
      await eventually(async () => {
        const { items } = (await node.server.call('GET', path)).json<{ items: PodCertificateRequest[] }>();
        newest = items.find(({ status }) => !status?.conditions?.length);
        assert.ok(items.length === count && newest);
      });
      const request = newest ?? assert.fail();
      const status = await issuedStatus(authority, request, { notBefore: Date.now() });
      const named = `${path}/${request.metadata.name}/status`;
      const answer = await node.server.call('PUT', named, { ...request, status });
      assert.equal(answer.status, 200, answer.text);
    };
    node.start();
    await ready();
    const podCertificate = { signerName: 'a.b/c', keyType: 'ECDSAP256', credentialBundlePath: 'both.pem' };
    await node.createPod('web', {
      ...{ serviceAccountName: 'web', automountServiceAccountToken: false },
      volumes: [{ name: 'tls', projected: { sources: [{ podCertificate }] } }],
      containers: [main({ volumeMounts: [{ name: 'tls', mountPath: '/tls' }] })],
    });
    await issue(1);
    const { metadata } = await node.waitFor('web', isReady);
    const file = join(node.dataDir, 'pods', metadata.uid, 'volumes/tls/both.pem');
    const held = () => readFile(file, 'utf8');
    const first = await held();
    assert.match(first, /END CERTIFICATE/);
    // A new agent has no key, and requests another certificate.
    await node.stop();
    node.start();
    await issue(2);
    await eventually(async () => assert.notEqual(await held(), first));
  });

  it('forwards no host port to a pod that has ended', async () => {
    let forwarded: readonly HostPort[] = [];
    const network = {
      ...paperNetwork(),
      setHostPorts: async (ports: readonly HostPort[]) => {
        forwarded = ports;
      },
    };
    node.start({ network });
    await ready();
    const ports = [{ containerPort: 80, hostPort: 8080 }];
    await node.createPod('web', { restartPolicy: 'Never', containers: [main({ ports })] });
    await node.waitFor('web', isReady);
    assert.equal(forwarded.length, 1);
    await exit('web');
    await node.waitFor('web', ({ status }) => status?.phase === 'Succeeded');
    await eventually(async () => assert.deepEqual(forwarded, []));
  });

  it('carries out a deferred resize when another pod has ended', async () => {
    node.start();
    await ready();
    const create = async (name: string, amount: string) => {
      await node.createPod(name, { restartPolicy: 'Never', containers: [main({ resources: cpu(amount) })] });
      await node.waitFor(name, isReady);
    };
    await create('web', '500m');
    await create('job', '1');
    const body = { spec: { containers: [{ name: 'main', resources: cpu('1500m') }] } };
    const answer = await node.server.call('PATCH', `${pods}/web/resize`, body, strategic);
    assert.equal(answer.status, 200, answer.text);
    await node.waitFor('web', ({ status }) => status?.resize === 'Deferred');
    await exit('job');
    const hasResized = ({ status }: Pod) =>
      status?.containerStatuses?.[0]?.resources?.limits?.cpu === '1500m';
    await node.waitFor('web', hasResized);
  });

  it('gives no device of a removed pod to another pod while a container of the first one runs', async () => {
    node.start({ devices: { rules: parseDeviceRules('example.com/card=/dev/null') } });
    await ready();
    const resources = { limits: { 'example.com/card': '1' } };
    const spec = {
      ...{ terminationGracePeriodSeconds: 600, restartPolicy: 'Never' },
      containers: [main({ resources })],
    };
    await node.createPod('stubborn', spec);
    await node.waitFor('stubborn', isReady);
    const running = await node.running('stubborn');
    await node.server.call('DELETE', `${pods}/stubborn`);
    await node.server.call('DELETE', `${pods}/stubborn?gracePeriodSeconds=0`);
    await node.createPod('early', spec);
    const problem = /^requested number of devices unavailable for example\.com\/card/;
    await node.waitFor('early', ({ status }) => {
      const { message = '' } = status?.containerStatuses?.[0]?.state?.waiting ?? {};
      return problem.test(message);
    });
    assert.deepEqual(await node.running('stubborn'), running);
    await exit('stubborn');
    await node.waitFor('early', isReady);
  });
});
