/** Files on disk for a pod, with the real kernel, after its containers have tried to abuse them. */
import assert from 'node:assert/strict';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/log.ts';
import type { PodSources } from '../../../src/kubelet/environment/pod-sources.ts';
import { isMountPoint, unmountUnder } from '../../../src/kubelet/volumes/mounts.ts';
import { PodFiles } from '../../../src/kubelet/volumes/pod-files.ts';
import { PodVolumes } from '../../../src/kubelet/volumes/pod-volumes.ts';
import { VolumeCounts } from '../../../src/kubelet/volumes/volume-counts.ts';
import { type Exec, systemExec } from '../../../src/os/exec.ts';
import { removeTree } from '../../../src/os/remove-tree.ts';
import { makeDeepTree } from '../../fixtures/deep-tree.ts';
import { makePod } from '../../unit/kubelet/builders.ts';

describe('the files of a pod', () => {
  let dataDir: string;
  /** Certificates of every trust bundle. */
  let anchors: string | undefined;
  /** The certificate of every pod. */
  const certificate = { key: 'key\n', chain: 'chain\n', renewAt: undefined };
  const filesWith = (exec: Exec) => new PodFiles({ dataDir, exec });
  const pod = makePod({
    volumes: [
      { name: 'v', emptyDir: {} },
      { name: 'm', emptyDir: { medium: 'Memory' } },
    ],
    containers: [
      { name: 'c', image: 'i', volumeMounts: ['v', 'm'].map((name) => ({ name, mountPath: `/${name}` })) },
    ],
  });
  const { uid } = pod.metadata;
  const inPod = (...names: string[]) => join(filesWith(systemExec).directory(uid), ...names);

  before(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'minik8s-pod-files-'));
    mkdirSync(join(dataDir, 'others'));
    writeFileSync(join(dataDir, 'others', 'file'), '');
  });
  /** Mounts the volumes as an agent that has just started. */
  const mount = async (of: Pod) => {
    const files = filesWith(systemExec);
    const none = async () => undefined;
    const trustBundles = { anchors: async () => anchors, version: () => anchors };
    const sources = {
      ...{ observe: none, forget: none, configMap: none, secret: none, version: () => 'none' },
      trustBundles: trustBundles as unknown as PodSources['trustBundles'],
    };
    const claims = {
      find: () => assert.fail(),
      of: () => assert.fail(),
      isShared: () => false,
      forget: none,
      known: () => undefined,
    };
    const tokens = { get: () => assert.fail('no token is wanted'), forget: none };
    const allocatableMemory = 1 << 30;
    await new PodVolumes({
      counts: new VolumeCounts(systemClock),
      ...{ exec: systemExec, clock: systemClock, log: silentLogger, files, sources, tokens, claims },
      certificates: { observe: none, forget: none, version: () => '', get: async () => certificate },
      node: () => undefined,
      localVolumes: { isOwn: () => false, make: none },
      shares: { mount: none, mountVolume: none },
      ...{ allocatable: {}, allocatableMemory, events: { event: (...said) => assert.fail(String(said)) } },
    }).mount(of);
  };
  beforeEach(() => mount(pod));
  after(async () => {
    await unmountUnder(dataDir, systemExec);
    rmSync(dataDir, { recursive: true });
  });

  const modeOf = (path: string) => (statSync(path).mode & 0o7777).toString(8);
  const volume = () => inPod('volumes', 'v');
  const bindOthers = async () => {
    mkdirSync(join(volume(), 'bound'));
    await systemExec('mount', ['--bind', join(dataDir, 'others'), join(volume(), 'bound')]);
  };
  const assertOthersKept = () => assert.deepEqual(readdirSync(join(dataDir, 'others')), ['file']);

  it('keep the modes and owners that containers set, also under an agent that starts later', async () => {
    for (const [name, mode] of [
      ['v', '777'],
      ['m', '1777'],
    ] as const) {
      const path = inPod('volumes', name);
      assert.equal(modeOf(path), mode);
      chmodSync(path, 0o700);
      chownSync(path, 7, 7);
    }
    await mount(pod);
    for (const name of ['v', 'm']) {
      const path = inPod('volumes', name);
      assert.deepEqual([modeOf(path), statSync(path).uid, statSync(path).gid], ['700', 7, 7]);
    }
    await filesWith(systemExec).remove(uid);
  });

  it('belong to the group of the pod, including new ones', async () => {
    const other = makePod({ ...pod.spec, securityContext: { fsGroup: 99 } }, { uid: 'uid-2' });
    await mount(other);
    for (const [name, mode] of [
      ['v', '2777'],
      ['m', '3777'],
    ] as const) {
      const path = join(filesWith(systemExec).directory('uid-2'), 'volumes', name);
      assert.deepEqual([modeOf(path), statSync(path).gid], [mode, 99]);
    }
    await filesWith(systemExec).remove('uid-2');
  });

  it('have the certificates of trust bundles, and those of a changed bundle after the next mount', async () => {
    const projected = { sources: [{ clusterTrustBundle: { name: 'a', path: 'ca/anchors.pem' } }] };
    const volumeMounts = [{ name: 't', mountPath: '/t' }];
    const containers = [{ name: 'c', image: 'i', volumeMounts }];
    const trusting = makePod({ volumes: [{ name: 't', projected }], containers }, { uid: 'uid-3' });
    const file = join(filesWith(systemExec).directory('uid-3'), 'volumes', 't', 'ca', 'anchors.pem');
    for (const content of ['first', 'second']) {
      anchors = content;
      await mount(trusting);
      assert.deepEqual([readFileSync(file, 'utf8'), modeOf(file)], [content, '644']);
    }
    await filesWith(systemExec).remove('uid-3');
  });

  it('have the certificate of the pod and its key in memory, together and apart', async () => {
    const wanted = {
      ...{ signerName: 'a.b/c', keyType: 'ED25519', credentialBundlePath: 'tls/both.pem' },
      ...{ keyPath: 'key.pem', certificateChainPath: 'chain.pem' },
    };
    const projected = { sources: [{ podCertificate: wanted }], defaultMode: 0o640 };
    const containers = [{ name: 'c', image: 'i', volumeMounts: [{ name: 't', mountPath: '/t' }] }];
    const proven = makePod({ volumes: [{ name: 't', projected }], containers }, { uid: 'uid-4' });
    await mount(proven);
    const path = join(filesWith(systemExec).directory('uid-4'), 'volumes', 't');
    const contents = Object.entries({
      'tls/both.pem': 'key\nchain\n',
      'key.pem': 'key\n',
      'chain.pem': 'chain\n',
    });
    for (const [name, content] of contents) {
      const file = join(path, name);
      assert.deepEqual([name, readFileSync(file, 'utf8'), modeOf(file)], [name, content, '640']);
    }
    assert.equal(await isMountPoint(path), true);
    await filesWith(systemExec).remove('uid-4');
  });

  it('are removed with folders of any depth', async () => {
    makeDeepTree(volume());
    makeDeepTree(inPod('volumes', 'm'));
    await filesWith(systemExec).remove(uid);
    assert.equal(existsSync(inPod()), false);
  });

  it('are removed, but not the content of mounts among them', async () => {
    await bindOthers();
    await filesWith(systemExec).remove(uid);
    assert.equal(existsSync(inPod()), false);
    assertOthersKept();
  });

  it('stay while something is mounted among them', async () => {
    await bindOthers();
    const cannotUnmount: Exec = async (file, ...rest) =>
      file === 'umount' ? { stdout: '', stderr: '' } : systemExec(file, ...rest);
    await assert.rejects(filesWith(cannotUnmount).remove(uid), /is still a mount point/);
    assertOthersKept();
  });

  it('on another file system are not removed with their directory', async () => {
    writeFileSync(inPod('volumes', 'm', 'file'), '');
    await assert.rejects(removeTree(inPod(), systemExec), /^ExecError: rm .*exit status 1/);
    assert.deepEqual(readdirSync(inPod('volumes', 'm')), ['file']);
  });
});
