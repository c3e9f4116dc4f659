/** What is on disk for a pod, with the real kernel, after its containers have done their worst. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type Exec, systemExec } from '../../../src/base/exec.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { removeTree } from '../../../src/base/remove-tree.ts';
import { unmountUnder } from '../../../src/kubelet/mounts.ts';
import { PodFiles } from '../../../src/kubelet/pod-files.ts';
import { makeDeepTree } from '../../fixtures/deep-tree.ts';
import { makePod } from '../../unit/kubelet/builders.ts';

describe('the files of a pod', () => {
  let dataDir: string;
  const filesWith = (exec: Exec) =>
    new PodFiles({
      dataDir,
      exec,
      projected: { write: async () => undefined, forget: () => undefined },
      clusterDNS: undefined,
      clusterDomain: 'cluster.local',
      resolvConf: '',
      hosts: '',
      allocatableMemory: 1 << 30,
      log: silentLogger,
    });
  const pod = makePod({
    volumes: [
      { name: 'v', emptyDir: {} },
      { name: 'm', emptyDir: { medium: 'Memory' } },
    ],
  });
  const { uid } = pod.metadata;
  const inPod = (...names: string[]) => join(filesWith(systemExec).directory(uid), ...names);

  before(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'minik8s-pod-files-'));
    mkdirSync(join(dataDir, 'others'));
    writeFileSync(join(dataDir, 'others', 'file'), '');
  });
  beforeEach(() => filesWith(systemExec).prepareVolumes(pod));
  after(async () => {
    await unmountUnder(dataDir, systemExec);
    rmSync(dataDir, { recursive: true });
  });

  const volume = () => inPod('volumes', 'v');
  const bindOthers = async () => {
    mkdirSync(join(volume(), 'bound'));
    await systemExec('mount', ['--bind', join(dataDir, 'others'), join(volume(), 'bound')]);
  };
  const assertOthersKept = () => assert.deepEqual(readdirSync(join(dataDir, 'others')), ['file']);

  it('go, however deep a container has dug', async () => {
    makeDeepTree(volume());
    makeDeepTree(inPod('volumes', 'm'));
    await filesWith(systemExec).remove(uid);
    assert.equal(existsSync(inPod()), false);
  });

  it('go without what is mounted among them', async () => {
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

  it('are not followed into another file system', async () => {
    writeFileSync(inPod('volumes', 'm', 'file'), '');
    await assert.rejects(removeTree(inPod(), systemExec), /^ExecError: rm .*exit status 1/);
    assert.deepEqual(readdirSync(inPod('volumes', 'm')), ['file']);
  });
});
