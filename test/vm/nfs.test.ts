/** Volumes of NFS, mounted by the kernel of a virtual machine that also serves them. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { waitFor } from '../e2e/harness/wait-for.ts';
import { addressOf, minutes } from './fresh-machines.ts';
import type { Machine } from './machine.ts';
import { apply, patient, podOf, startOneNode, startPod } from './one-node.ts';

const share = { server: addressOf(1), path: '/srv/share' };
const mounts = `awk '$3 ~ /^nfs4?$/ && $1 ~ /^${addressOf(1)}:/' /proc/mounts`;

// The suite's time includes the start of its machine.
describe('volumes of NFS', { timeout: 55 * minutes }, () => {
  let machine: Machine;
  before(
    async () => {
      machine = await startOneNode();
      const exported = `${share.path} ${addressOf(0)}/24(rw,no_subtree_check,no_root_squash)`;
      await machine.output(
        `mkdir -m 777 ${share.path} && echo '${exported}' >>/etc/exports && systemctl start nfs-server`,
        patient,
      );
    },
    { timeout: 20 * minutes },
  );
  after(() => machine?.stop());

  const ctl = (command: string) => machine.output(`minik8s ctl ${command}`, patient);
  const noMount = () => waitFor('no mount', async () => (await machine.output(mounts)) === '', patient);
  const mountedAt = (volume: object) =>
    [
      { volumeMounts: [{ name: 'data', mountPath: '/data' }] },
      { volumes: [{ name: 'data', ...volume }] },
    ] as const;

  it('mounts a directory of a server for a pod, and unmounts it with the pod', async () => {
    await startPod(machine, 'writer', ...mountedAt({ nfs: share }));
    assert.match(await machine.output(mounts), /kubelet.* nfs4 rw,/);
    await ctl(`exec writer -- sh -c 'echo shared >/data/word'`);
    assert.equal(await machine.output(`cat ${share.path}/word`), 'shared\n');
    await startPod(machine, 'reader', ...mountedAt({ nfs: { ...share, readOnly: true } }));
    assert.equal(await ctl('exec reader -- cat /data/word'), 'shared\n');
    const refused = await machine.run('minik8s ctl exec reader -- touch /data/more', patient);
    assert.match(refused.stderr, /Read-only file system/);
    await ctl('delete pod writer reader');
    await noMount();
    assert.equal(await machine.output(`cat ${share.path}/word`), 'shared\n');
  });

  it('provisions a folder of the server for a claim, and removes it with the claim', async () => {
    const accessModes = ['ReadWriteMany'];
    await apply(
      machine,
      {
        apiVersion: 'storage.k8s.io/v1',
        kind: 'StorageClass',
        metadata: { name: 'shared' },
        provisioner: 'minik8s.io/nfs',
        parameters: share,
      },
      {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: 'papers' },
        spec: { storageClassName: 'shared', accessModes, resources: { requests: { storage: '10Mi' } } },
      },
    );
    const claimed = { persistentVolumeClaim: { claimName: 'papers' } };
    await startPod(machine, 'clerk', ...mountedAt(claimed));
    await ctl(`exec clerk -- sh -c 'echo kept >/data/note'`);
    const folder = `${share.path}/${await ctl('get pvc papers -o jsonpath={.spec.volumeName}')}`;
    assert.equal(await machine.output(`cat ${folder}/note`), 'kept\n');
    await ctl('delete pod clerk');
    await startPod(machine, 'clerk', ...mountedAt(claimed));
    assert.equal(await ctl('exec clerk -- cat /data/note'), 'kept\n');
    await ctl('delete pod clerk');
    await ctl('delete pvc papers');
    await machine.output(`until [ ! -e ${folder} ]; do sleep 1; done`, patient);
    await noMount();
  });

  it('names the fault of a directory that the server does not have, and mounts it once it is there', async () => {
    const missing = { ...share, path: `${share.path}/later` };
    await apply(machine, podOf('waiting', ...mountedAt({ nfs: missing })));
    const events = 'get events --field-selector involvedObject.name=waiting';
    await waitFor(
      'the reason of the failed mount',
      async () => /FailedMount.*No such file or directory/.test(await ctl(events)),
      patient,
    );
    await machine.output(`mkdir ${missing.path}`);
    await ctl('wait pod/waiting --for=condition=Ready --timeout=300s');
    await ctl('delete pod waiting');
    await noMount();
  });

  it('runs other pods while the server does not answer', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    await startPod(
      machine,
      'stuck',
      { volumeMounts: names.map((name) => ({ name, mountPath: `/${name}` })) },
      { volumes: names.map((name) => ({ name, nfs: share })) },
    );
    const rules = ['OUTPUT -p tcp --dport 2049 -j DROP', 'INPUT -p tcp --sport 2049 -j DROP'];
    const silence = (option: string) =>
      machine.output(rules.map((rule) => `iptables ${option} ${rule}`).join(' && '));
    await silence('-I');
    // A read of the usage asks each file system; attributes of NFS are cached for up to a minute.
    const end = performance.now() + 90_000;
    while (performance.now() < end)
      await ctl('get --raw /api/v1/nodes/vm1/proxy/stats/summary --request-timeout=60s');
    await startPod(machine, 'other', {});
    await waitFor('usage of the other pod', async () => /^other +/m.test(await ctl('top pods')), patient);
    await ctl('wait --for=condition=Ready node/vm1 --timeout=10s');
    await silence('-D');
    await ctl('exec stuck -- cat /a/word');
    await ctl('delete pod stuck other');
    await noMount();
  });
});
