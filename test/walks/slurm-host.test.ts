/** Faults of a login host and of Slurm while jobs run: each job is submitted once and reaches its end. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { condition, ends, sees, startClient } from '../fixtures/slurm/client.ts';
import { type SlurmCluster, startSlurmCluster, unlessSlurm } from '../fixtures/slurm/cluster.ts';
import { MemoryStore } from '../fixtures/slurm/memory-store.ts';

describe('a SlurmJob on a faulty host', { skip: unlessSlurm, timeout: 400_000 }, () => {
  let cluster: SlurmCluster;
  let knownHosts: string;
  const settings = () => ({ ...cluster.settings, knownHosts });
  before(async () => {
    // The controller forgets a job two seconds after its end: its result is then only in the accounting.
    cluster = await startSlurmCluster({ accounting: true, config: ['MaxJobCount=4', 'MinJobAge=2'] });
    knownHosts = cluster.settings.knownHosts;
  });
  after(() => cluster.stop());

  const submissions = async (uid: string) =>
    Number(
      await cluster.sh(
        `/usr/bin/sacct -n -P -X -a -S now-1days -o JobID,Comment | grep -c 'minik8s:${uid}' || true`,
      ),
    );
  const succeeded = async (store: MemoryStore, uid: string) => {
    await ends(store, uid);
    assert.equal(store.phase(uid), 'Succeeded', JSON.stringify(store.status(uid)));
    // The comment of a job reaches the accounting with its end, some time later.
    await sees('the accounting to have it', async () => (await submissions(uid)) > 0);
    assert.equal(await submissions(uid), 1);
  };
  /** A job that runs until the file exists. */
  const waiting = (file: string) => ({ run: [`until [ -e ~/${file} ]; do sleep 0.2; done`, `echo ${file}`] });

  it('sends nothing to a host whose key changed until the Secret has the new key', async () => {
    const store = new MemoryStore();
    const uid = store.add('key', waiting('key'));
    await using client = startClient(store, settings());
    await sees('it runs', () => store.phase(uid) === 'Running');
    const changed = await cluster.changeHostKey();
    await sees('its condition', () => condition(store, uid, 'Connected')?.reason === 'HostKeyUnknown');
    await cluster.sh('touch ~/key');
    assert.equal(store.phase(uid), 'Running');
    knownHosts = changed;
    client.connection.replace(settings());
    await succeeded(store, uid);
    assert.equal(store.text(uid, 'stdout'), 'key\n');
  });

  it('opens a new connection if the connection is silent', async () => {
    const store = new MemoryStore();
    const uid = store.add('silent', waiting('silent'));
    await using _ = startClient(store, settings());
    await sees('it runs', () => store.phase(uid) === 'Running');
    const before = cluster.connections();
    cluster.freeze();
    await cluster.sh('touch ~/silent');
    await succeeded(store, uid);
    assert.equal(cluster.connections(), before + 1);
    assert.equal(store.text(uid, 'stdout'), 'silent\n');
  });

  it('is submitted later if the queue is full', async () => {
    const store = new MemoryStore();
    const uids = Array.from({ length: 8 }, (_, index) => store.add(`full-${index}`, { run: ['sleep 1'] }));
    await using _ = startClient(store, settings());
    for (const uid of uids) await succeeded(store, uid);
  });

  it('waits for a controller that is unreachable for a while', async () => {
    const store = new MemoryStore();
    const [running, later] = [store.add('running', waiting('back')), store.add('later', { run: ['true'] })];
    await using _ = startClient(store, settings());
    await sees('it runs', () => store.phase(running) === 'Running');
    await cluster.sh('pkill -x slurmctld; while pgrep -x slurmctld >/dev/null; do sleep 0.1; done', 'root');
    const during = store.add('during', { run: ['echo was away'] });
    await sees('it is uploaded', () => condition(store, during, 'Uploaded')?.status === 'True');
    await cluster.sh('touch ~/back; sleep 5');
    await cluster.sh('slurmctld', 'root');
    for (const uid of [running, later, during]) await succeeded(store, uid);
    assert.equal(store.text(during, 'stdout'), 'was away\n');
  });
});
