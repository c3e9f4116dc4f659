/**
 * File triggers: the agent's part on real folders with the kernel's inotify, with a node's identity, against
 * a whole control plane.
 */
import assert from 'node:assert/strict';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { nodeResource } from '../../../../../src/api/core/v1/node/node.ts';
import { persistentVolumeResource } from '../../../../../src/api/core/v1/volume/persistent-volume.ts';
import { persistentVolumeClaimResource } from '../../../../../src/api/core/v1/volume/persistent-volume-claim.ts';
import { systemClock } from '../../../../../src/base/clock.ts';
import { silentLogger } from '../../../../../src/base/log.ts';
import { FolderWatches } from '../../../../../src/features/triggers/agent/folder-watches.ts';
import { folderWatchResource } from '../../../../../src/features/triggers/api/folder-watch.ts';
import { SeededRandom } from '../../../../fixtures/seeded-random.ts';
import { type Delivered, World } from './world.ts';

const world = new World('127.0.34');
const group = '/apis/minik8s.io/v1/namespaces/default';
const nodeUser = (name: string) => ({
  name: `system:node:${name}`,
  groups: ['system:nodes', 'system:authenticated'],
});
let root: string;
let allowed: string;
let agents: { stop: AbortController; running: Promise<void> }[] = [];

/** Starts the part of a node's agent that watches folders. */
function startAgent(nodeName = 'n1', folders = [allowed], maxFiles?: number): void {
  const stop = new AbortController();
  const watches = new FolderWatches({
    client: world.plane.clientOf(nodeUser(nodeName)),
    clock: systemClock,
    random: new SeededRandom(3),
    log: silentLogger,
    nodeName,
    dataDir: join(root, 'data', nodeName),
    allowed: folders,
    ...(maxFiles !== undefined && { maxFiles }),
  });
  agents.push({ stop, running: watches.run(stop.signal) });
}

async function stopAgents(): Promise<void> {
  for (const { stop } of agents) stop.abort();
  await Promise.all(agents.map(({ running }) => running));
  agents = [];
}

async function node(name: string, labels: Record<string, string> = {}): Promise<void> {
  const nodes = world.client.resource(nodeResource);
  await nodes.create({ apiVersion: 'v1', kind: 'Node', metadata: { name, labels } } as never);
  const status = { conditions: [{ type: 'Ready', status: 'True', reason: 'x', message: '' }] };
  await nodes.patch(name, '', 'merge', { status }, 'status');
}

before(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'minik8s-files-')));
  allowed = join(root, 'allowed');
  mkdirSync(allowed);
  await world.start();
  await node('n1', { disk: 'big' });
});
after(async () => {
  await stopAgents();
  await world.end();
  rmSync(root, { recursive: true });
});
afterEach(stopAgents);

const folderOf = (name: string) => {
  const folder = join(allowed, name);
  mkdirSync(folder, { recursive: true });
  return folder;
};
const told = (seen: readonly Delivered[]) =>
  seen.map(({ type, subject }) => `${type.split('.').at(-1)} ${subject}`).toSorted();
const watched = (name: string) =>
  world.eventually(`${name} is watched`, async () => {
    const ready = await world.condition(name, 'Ready');
    return ready?.status === 'True' && ready.message?.includes('watched on n1') && ready;
  });
const reasonOf = (name: string, reason: string) =>
  world.eventually(`${name} says ${reason}`, async () => {
    const ready = await world.condition(name, 'Ready');
    return ready?.reason === reason && ready;
  });

describe('a trigger of files', () => {
  it('reports created, written and deleted files once when they have not changed for a while', async () => {
    const seen = await world.noting('files');
    const folder = folderOf('files');
    writeFileSync(join(folder, 'old.csv'), 'was here');
    // Times of objects are whole seconds.
    await new Promise((resolve) => setTimeout(resolve, 1100));
    startAgent();
    await world.trigger('files', { target: { name: 'files' }, file: { folder, pattern: '*.csv' } });
    await watched('files');
    writeFileSync(join(folder, 'a.csv'), 'one');
    writeFileSync(join(folder, 'a.txt'), 'not meant');
    mkdirSync(join(folder, 'inner.csv'));
    const slow = setInterval(() => appendFileSync(join(folder, 'slow.csv'), 'x'), 200);
    await world.eventually('the change is reported', () => seen.length === 1);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    assert.deepEqual(told(seen), ['created a.csv'], 'a file that is being written is not reported');
    clearInterval(slow);
    await world.eventually('the file is reported when it is no longer written', () => seen.length === 2);
    appendFileSync(join(folder, 'a.csv'), ' two');
    await world.eventually('the change is reported', () => seen.length === 3);
    unlinkSync(join(folder, 'old.csv'));
    await world.eventually('the change is reported', () => seen.length === 4);
    assert.deepEqual(told(seen), ['created a.csv', 'created slow.csv', 'deleted old.csv', 'updated a.csv']);
    const updated = seen.find(({ type }) => type === 'minik8s.io/file.updated');
    const { path, size, node: on, ...data } = (updated?.data ?? {}) as unknown as Record<string, unknown>;
    assert.deepEqual([path, size, on, 'content' in data], ['a.csv', 7, 'n1', false]);
    assert.equal(updated?.source, `/folders${folder}`);
  });

  it('reports the content of small files, and files in subfolders, if configured', async () => {
    const seen = await world.noting('content');
    const folder = folderOf('content');
    startAgent();
    const file = { folder, recursive: true, includeContent: true, types: ['Created'] };
    await world.trigger('content', { target: { name: 'content' }, file });
    await watched('content');
    mkdirSync(join(folder, 'a', 'b'), { recursive: true });
    await new Promise((resolve) => setTimeout(resolve, 500));
    writeFileSync(join(folder, 'a', 'b', 'text'), 'hällo');
    writeFileSync(join(folder, 'bytes'), Buffer.from([0xff, 0xfe]));
    writeFileSync(join(folder, 'large'), Buffer.alloc(64 * 1024 + 1));
    await world.eventually('all changes are reported', () => seen.length === 3);
    const contents = seen.map(({ subject, data }) => {
      const { content, isBase64, truncated } = data as unknown as Record<string, unknown>;
      return [subject, content, isBase64, truncated];
    });
    assert.deepEqual(
      contents.toSorted(([a], [b]) => String(a).localeCompare(String(b))),
      [
        ['a/b/text', 'hällo', undefined, undefined],
        ['bytes', '//4=', true, undefined],
        ['large', undefined, undefined, true],
      ],
    );
  });

  it('reports changes that happen during a restart of the agent after it, and nothing twice', async () => {
    const seen = await world.noting('restarted');
    const folder = folderOf('restarted');
    startAgent();
    await world.trigger('restarted', { target: { name: 'restarted' }, file: { folder } });
    await watched('restarted');
    for (const name of ['kept', 'changed', 'removed']) writeFileSync(join(folder, name), name);
    await world.eventually('all changes are reported', () => seen.length === 3);
    await stopAgents();
    appendFileSync(join(folder, 'changed'), '!');
    unlinkSync(join(folder, 'removed'));
    writeFileSync(join(folder, 'new'), '');
    startAgent();
    await world.eventually('all changes are reported', () => seen.length === 6);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    assert.deepEqual(told(seen.slice(3)), ['created new', 'deleted removed', 'updated changed']);
  });

  it('reports an event again with the same id if the agent ended before it had recorded the event', async () => {
    const seen = await world.noting('twice');
    const folder = folderOf('twice');
    startAgent();
    await world.trigger('twice', { target: { name: 'twice' }, file: { folder } });
    await watched('twice');
    const data = join(root, 'data', 'n1', 'watched-folders');
    await stopAgents();
    renameSync(data, `${data}-before`);
    mkdirSync(data);
    writeFileSync(join(folder, 'a'), '');
    startAgent();
    await world.eventually('the change is reported', () => seen.length === 1);
    await stopAgents();
    rmSync(data, { recursive: true });
    renameSync(`${data}-before`, data);
    startAgent();
    await world.eventually('the change is reported again', () => seen.length === 2);
    assert.equal(seen[0]?.id, seen[1]?.id);
  });

  it('follows no link out of the folder, and refuses one on the way to it', async () => {
    const seen = await world.noting('links');
    const folder = folderOf('links');
    const outside = join(root, 'outside');
    mkdirSync(outside, { recursive: true });
    writeFileSync(join(outside, 'secret'), 'secret');
    startAgent();
    const file = { folder, recursive: true, includeContent: true };
    await world.trigger('links', { target: { name: 'links' }, file });
    await watched('links');
    symlinkSync(outside, join(folder, 'folder'));
    symlinkSync(join(outside, 'secret'), join(folder, 'file'));
    writeFileSync(join(folder, 'plain'), '');
    await world.eventually('the file is reported', () => seen.length === 1);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    assert.deepEqual(told(seen), ['created plain']);
    // The whole folder becomes a link to a folder that is not allowed.
    rmSync(folder, { recursive: true });
    symlinkSync(outside, folder);
    await reasonOf('links', 'FolderNotAllowed');
    writeFileSync(join(outside, 'more'), '');
    await new Promise((resolve) => setTimeout(resolve, 1500));
    assert.equal(seen.length, 1);
  });

  it('reports why a folder is not watched, and starts when it exists', async () => {
    const seen = await world.noting('missing');
    startAgent();
    await world.trigger('forbidden', { target: { name: 'missing' }, file: { folder: '/etc' } });
    assert.match((await reasonOf('forbidden', 'FolderNotAllowed')).message ?? '', /n1 .*--watch-folder/);
    const beside = `${allowed}-not`;
    mkdirSync(beside);
    await world.trigger('beside', { target: { name: 'missing' }, file: { folder: beside } });
    await reasonOf('beside', 'FolderNotAllowed');
    const folder = join(allowed, 'later', 'in');
    await world.trigger('later', { target: { name: 'missing' }, file: { folder } });
    await reasonOf('later', 'FolderMissing');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'a'), '');
    await world.eventually('the change is reported', () => seen.length === 1);
    await watched('later');
    await world.trigger('nowhere', {
      target: { name: 'missing' },
      file: { folder, nodeSelector: { disk: 'no' } },
    });
    await reasonOf('nowhere', 'NoNode');
  });

  it('reports too many files, and continues when there are fewer', async () => {
    const seen = await world.noting('many');
    const folder = folderOf('many');
    startAgent('n1', [allowed], 300);
    await world.trigger('many', { target: { name: 'many' }, file: { folder, types: ['Deleted'] } });
    await watched('many');
    for (let n = 0; n <= 300; n++) writeFileSync(join(folder, `f${n}`), '');
    assert.match((await reasonOf('many', 'TooManyFiles')).message ?? '', /at most 300 are watched/);
    unlinkSync(join(folder, 'f0'));
    await watched('many');
    let next = 1;
    // The removal of a file that was not yet known cannot be reported.
    const removing = setInterval(() => unlinkSync(join(folder, `f${next++}`)), 500);
    await world.eventually('the change is reported', () => seen.length >= 1);
    clearInterval(removing);
    assert.match(told(seen)[0] ?? '', /^deleted f\d+$/);
    rmSync(folder, { recursive: true });
  });

  it('watches a claim on the node with its volume, and reports a missing claim or volume', async () => {
    const seen = await world.noting('claimed');
    const path = join(root, 'volume');
    mkdirSync(join(path, 'in'), { recursive: true });
    startAgent('n1', []);
    await world.trigger('claimed', { target: { name: 'claimed' }, file: { claimName: 'data', path: 'in' } });
    await reasonOf('claimed', 'ClaimMissing');
    await world.client.resource(persistentVolumeClaimResource).create({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'data', namespace: 'default' },
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: '',
        resources: { requests: { storage: '1Gi' } },
      },
    } as never);
    await reasonOf('claimed', 'ClaimNotBound');
    const terms = [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['n1'] }] }];
    await world.client.resource(nodeResource).patch('n1', '', 'merge', {
      metadata: { labels: { 'kubernetes.io/hostname': 'n1' } },
    });
    await world.client.resource(persistentVolumeResource).create({
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: 'v' },
      spec: {
        accessModes: ['ReadWriteOnce'],
        capacity: { storage: '1Gi' },
        local: { path },
        nodeAffinity: { required: { nodeSelectorTerms: terms } },
      },
    } as never);
    await watched('claimed');
    writeFileSync(join(path, 'in', 'a'), '');
    await world.eventually('the change is reported', () => seen.length === 1);
    assert.equal(seen[0]?.source, '/namespaces/default/persistentvolumeclaims/data');
    // A pod has replaced the folder of the volume by a link; the link is not followed.
    renameSync(join(path, 'in'), join(path, 'was'));
    symlinkSync('/etc', join(path, 'in'));
    await reasonOf('claimed', 'FolderUnusable');
  });

  it('keeps files waiting while a thousand events wait, and reports all in the end', async () => {
    const up = Promise.withResolvers<void>();
    const paths = new Set<string>();
    await world.fn('slow', (incoming, outgoing) => {
      let text = '';
      incoming.on('data', (chunk) => {
        text += chunk;
      });
      incoming.on('end', async () => {
        await up.promise;
        paths.add(JSON.parse(text).subject);
        outgoing.end();
      });
    });
    const folder = folderOf('flood');
    startAgent();
    const retry = { maxAttempts: 100, minSeconds: 5, maxSeconds: 5 };
    await world.trigger('flood', { target: { name: 'slow' }, file: { folder }, retry });
    await watched('flood');
    for (let n = 0; n < 1100; n++) writeFileSync(join(folder, `f${n}`), '');
    await world.eventually(
      'the number of waiting events is reported',
      async () => (await world.condition('flood', 'Backlogged'))?.status === 'True',
      120_000,
    );
    assert.ok((await world.events('flood')).length <= 1000);
    up.resolve();
    await world.eventually('all changes are reported', () => paths.size === 1100, 240_000);
    await world.eventually('none waits', async () => !(await world.condition('flood', 'Backlogged')));
  });

  it('does not report earlier changes after a suspension or a change of its folder', async () => {
    const seen = await world.noting('moved');
    const [first, second] = [folderOf('moved-1'), folderOf('moved-2')];
    startAgent();
    await world.trigger('moved', { target: { name: 'moved' }, file: { folder: first } });
    await watched('moved');
    const merge = { headers: { 'content-type': 'application/merge-patch+json' } };
    const set = (spec: object) => world.call('PATCH', `${group}/triggers/moved`, { spec }, merge);
    await set({ suspend: true });
    await reasonOf('moved', 'Suspended');
    await world.eventually('no agent watches', async () => {
      const { items } = await world.client.resource(folderWatchResource).list({ namespace: 'default' });
      return !items.some(({ spec }) => spec.trigger === 'moved');
    });
    writeFileSync(join(first, 'meanwhile'), '');
    writeFileSync(join(second, 'before'), '');
    await new Promise((resolve) => setTimeout(resolve, 1100));
    await set({ suspend: false, file: { folder: second } });
    await watched('moved');
    writeFileSync(join(second, 'after'), '');
    utimesSync(join(second, 'after'), 1, 1);
    await world.eventually('the change is reported', () => seen.length >= 1);
    assert.deepEqual(told(seen), ['created after']);
  });
});
